"""What one may look up on the board: queries with their answers, as commands are for changes. Importing fills `READS`.

Every list is bounded and has `next` (null: that was all); long texts end with a mark that names the query for the rest.
"""

import core.reading.changes
import core.reading.comments
import core.reading.company
import core.reading.goals
import core.reading.outputs
import core.reading.search
import core.reading.tasks
import core.reading.texts  # noqa: F401 - each registers its queries
