// Which reducers a tool knows: an app's own, or the built-in ones.

import HindsightCore

/// The reducers of a tool.
protocol ReducerSource: Sendable {
  /// The names of the reducers that a new store can be made for.
  var names: [String] { get }

  /// The reducer of a name.
  ///
  /// - Throws: ``ToolError`` where the tool doesn't know it.
  func reducer(named name: String) throws -> any Reducer
}

extension ReducerSource {
  /// The name of the only reducer, where there is one.
  var onlyName: String? { names.count == 1 ? names.first : nil }
}

/// An app's own reducer.
struct SingleReducer<R: Reducer>: ReducerSource {
  let reducer: R

  var names: [String] { [reducer.name] }

  func reducer(named name: String) throws -> any Reducer {
    guard name == reducer.name else {
      throw ToolError(
        .badData,
        "the store belongs to the reducer \(name), and this tool has \(reducer.name): use the "
          + "other one's tool")
    }
    return reducer
  }
}

/// The reducers of the stock tool.
struct BuiltInReducers: ReducerSource {
  private let reducers: [any Reducer] = [
    MergePatchReducer(), JSONPatchReducer(), TextReducer(),
  ]

  var names: [String] { reducers.map(\.name) }

  func reducer(named name: String) throws -> any Reducer {
    guard let reducer = reducers.first(where: { $0.name == name }) else {
      throw ToolError(
        .badData,
        "the reducer \(name) isn't built in (\(names.joined(separator: ", ")) are): the states of "
          + "this store need its app's own tool; log, show, export and verify work without")
    }
    return reducer
  }
}
