// The stock command line: the built-in reducers, and every store's events.

import HindsightTool

await HindsightTool.main()
