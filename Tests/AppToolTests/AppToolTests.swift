// An app's own tool, made as an app would make it: in a package that depends on this one.

import Foundation
import Testing

@Suite struct AppToolTests {
  @Test(.timeLimit(.minutes(10)))
  func `a fresh package with a three-line executable has every verb for its own types`()
    async throws
  {
    let package = try AppPackage()
    defer { package.remove() }
    try package.build()
    let events = """
      {"type":"deposited","time":"2026-01-01T00:00:00.000Z","data":{"account":"alice","cents":100}}
      {"type":"withdrawn","time":"2026-01-02T00:00:00.000Z","data":{"account":"alice","cents":30}}
      {"type":"deposited","time":"2026-01-03T00:00:00.000Z","data":{"account":"bob","cents":30}}

      """
    #expect(
      try package.tool("import", "bank.hindsight", "-", input: events)
        == .init(status: 0, output: "imported 3 events; the head is 3\n"))
    #expect(
      try package.tool("state", "bank.hindsight", "2", "--json").output
        == #"{"balances":{"alice":70}}"# + "\n")
    #expect(
      try package.tool("state", "bank.hindsight", "/balances/bob").output == "30\n")
    #expect(
      try package.tool("diff", "bank.hindsight", "1..3").output
        == "+ /balances/bob  30\n~ /balances/alice  100 → 70\n")
    #expect(
      try package.tool("log", "bank.hindsight", "-n", "1").output
        == #"3  2026-01-03T00:00:00.000Z  deposited  {"cents":30, "account":"bob"}"# + "\n")
    #expect(try package.tool("show", "bank.hindsight", "@{2026-01-02T12:00:00Z}").status == 0)
    #expect(
      try package.tool("export", "bank.hindsight", "..1").output.contains(#""account":"alice""#))
    #expect(try package.tool("verify", "bank.hindsight").status == 0)
    #expect(try package.tool("stats", "bank.hindsight", "--json").output.contains(#""head":3"#))
    #expect(try package.tool("snapshots", "list", "bank.hindsight").status == 0)
    #expect(try package.tool("help").output.hasPrefix("bank-tool: "))

    let refused = #"{"type":"withdrawn","data":{"account":"alice","cents":71}}"# + "\n"
    let result = try package.tool("import", "bank.hindsight", "-", input: refused)
    #expect(result.status == 65)
    let unknown = #"{"type":"stolen","data":{}}"# + "\n"
    #expect(try package.tool("import", "bank.hindsight", "-", input: unknown).status == 65)
    #expect(try package.tool("stats", "bank.hindsight", "--json").output.contains(#""head":3"#))
  }
}

/// A package in a folder of its own, with an app's reducer and its tool.
private struct AppPackage {
  struct Result: Equatable {
    var status: Int32
    var output: String
  }

  let folder: URL

  private static let manifest = """
    // swift-tools-version: 6.2
    import PackageDescription

    let package = Package(
      name: "Bank", platforms: [.macOS(.v15)],
      dependencies: [.package(name: "Hindsight", path: "REPOSITORY")],
      targets: [
        .executableTarget(
          name: "bank-tool",
          dependencies: [
            .product(name: "Hindsight", package: "Hindsight"),
            .product(name: "HindsightTool", package: "Hindsight"),
          ])
      ])

    """

  private static let reducer = """
    import Hindsight

    struct Bank: Reducer {
      struct State: Codable, Sendable { var balances: [String: Int] = [:] }
      enum Event: Codable, Sendable {
        case deposited(account: String, cents: Int)
        case withdrawn(account: String, cents: Int)
      }
      struct Overdraft: Error {}

      var initialState: State { State() }

      func reduce(into state: inout State, _ event: Event) {
        switch event {
        case .deposited(let account, let cents): state.balances[account, default: 0] += cents
        case .withdrawn(let account, let cents): state.balances[account, default: 0] -= cents
        }
      }

      func validate(_ event: Event, in state: State) throws {
        if case .withdrawn(let account, let cents) = event,
          state.balances[account, default: 0] < cents { throw Overdraft() }
      }
    }

    """

  private static let main = """
    import HindsightTool

    @main struct BankTool { static func main() async { await HindsightTool.main(Bank()) } }

    """

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "hindsight-app-\(UUID().uuidString)")
    let sources = folder.appendingPathComponent("Sources/bank-tool")
    try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
    let repository = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().path
    let manifest = Self.manifest.replacing("REPOSITORY", with: repository)
    try Data(manifest.utf8).write(to: folder.appendingPathComponent("Package.swift"))
    try Data(Self.reducer.utf8).write(to: sources.appendingPathComponent("Bank.swift"))
    try Data(Self.main.utf8).write(to: sources.appendingPathComponent("BankTool.swift"))
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  func build() throws {
    let result = try run("/usr/bin/env", ["swift", "build", "--package-path", folder.path])
    try #require(result.status == 0, "\(result.output)")
  }

  func tool(_ arguments: String..., input: String = "") throws -> Result {
    try run(
      folder.appendingPathComponent(".build/debug/bank-tool").path, arguments, input: input)
  }

  private func run(
    _ executable: String, _ arguments: [String], input: String = ""
  ) throws -> Result {
    let process = Process()
    process.executableURL = URL(filePath: executable)
    process.arguments = arguments
    process.currentDirectoryURL = folder
    let (standardInput, standardOutput) = (Pipe(), Pipe())
    process.standardInput = standardInput
    process.standardOutput = standardOutput
    process.standardError = FileHandle.standardError
    try process.run()
    try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try standardInput.fileHandleForWriting.close()
    let output = try standardOutput.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
  }
}
