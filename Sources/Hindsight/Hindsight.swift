// What an app imports: the core and its values, and stores at a path.

@_exported public import HindsightCore
@_exported public import HindsightValue
