"""The numbers that users asked for, in one place. Times in milliseconds unless the name says otherwise."""

TICK_MS = 30_000  # S2-04
HEARTBEAT_MS = 900_000  # S1-05
STALL_MS = 600_000  # C-05
LEASE_MS = 60_000  # a run that its owner did not renew for this long may be recovered
COOL_DOWN_MAX_MS = 86_400_000  # a provider's word on when to come back is believed up to a day

OBSERVATION_MAX = 200  # code points, S3-03, C-20
HANDOFF_MIN = 50  # code points after strip, C-01
HANDOFF_MAX = 500
COMMENT_MAX = 20_000
TITLE_MAX = 200
TEXT_MAX = 20_000
TASKS_AT_ONCE = 500  # in one command: the writer serves everybody
PARTS_MAX = 20  # of one task that is split
QUESTIONS_PER_AGENT = 20  # wait for the operator at once, by RequestApproval (F23)
PERMISSIONS_WAITING = 20  # of one run at once; one of them is before the operator
PERMISSIONS_PER_RUN = 200  # questions of one run before the operator: a person reads each of them (F23)
CAPABILITIES = 50  # of an agent, or that a task asks for
LINES_MAX = 200  # constraints, must-haves and the like of one thing; together as long as a text may be
RUNNER_MAX = 10_000  # bytes of an agent's runner settings as JSON
NESTED_MAX = 32  # lists and objects in each other, in free-form fields
PENDING_HIRES = 20  # wait for the operator at once (F23)
TASKS_PER_RUN = 50  # work must not breed work without a person (F23)
TASKS_DEEP = 4  # a task whose run made a task whose run made a task …: the next round plans what is left
TASKS_A_ROUND = 1_000  # then agents add none to it
FILE_OUTPUT_MAX = 33_554_432  # bytes; it is hashed while the board waits
INLINE_OUTPUT_MAX = 65_536  # bytes; larger outputs are files in the company's folder

AUTO_IN_A_ROW = 3  # goals that stage B dispatched without a human look; then it is stage A again (D-01)
STAGE_B_BUDGET_MICROS = 5_000_000  # a day, D-01
BUDGET_WARN_PERCENT = 80
FIRST_RUN_MICROS = 200_000  # what a run is taken to cost before one of its kind has ended (F24)
REVIEW_ATTEMPTS = 3
FOLLOW_UPS_A_REVIEW = 5  # new findings of a later review become so many tasks at most (F8, F23)
OBJECTION_WINDOW_MS = 300_000  # S3-13
PLANS_A_TASK = 3  # so many plans may meet an objection; then the operator is asked
DISCUSSION_TURNS = 5  # C-16
DISCUSSION_SEATS = 8  # agents woken in a turn
TURN_WAIT_MS = 1_800_000  # a turn waits so long for answers to mentions, and for those that do not come to speak (F23)
EXCHANGE_MESSAGES = 6  # of two agents without any change of a task or output; then a person decides (F7)
ROUND_CAP = 8
STALLS_A_ROUND = 6  # so often the coordinator is called to a round that stands still, then a person (F23)
BROADCASTS_BEFORE_ROUTER = 3  # C-09
RUN_ATTEMPTS = 3

RUNS_AT_ONCE = 4
STARTS_PER_MINUTE = 30
OFFERS_PER_BROADCAST = 20
ACTIONS_PER_STEP = 200  # a tick is bounded

EXPERIENCE_PREFIX = "💡 经验: "  # S3-09
MISSION_SENTINELS = frozenset({"", "待定义", "tbd", "to be defined"})  # S1-06, C-15
PROMPT_TOKENS = 8_000  # of one prompt, unless company.toml or the agent's runner says otherwise
PROMPT_TOKENS_MIN = 3_000  # roles, calls and red lines need so much
