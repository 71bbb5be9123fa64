// Compiles examples against the modules that were built for the tests.
// It always holds: nothing is built anew but the examples, so that trying them takes seconds.

import Foundation

/// The compiler, and the modules of this build.
struct Compiler {
  private let build: String
  private let folder: String
  private var libraries: [String] = []

  private static let modules = [
    "Hindsight", "HindsightCore", "HindsightLog", "HindsightLMDB", "HindsightValue",
    "HindsightTimeTravel", "HindsightTool", "HindsightTesting",
  ]
  private static let systemModules = ["SystemLMDB", "SystemXXHash", "SystemZstd"]

  /// Compiles into a folder.
  init(into folder: String) throws {
    self.folder = folder
    #if os(Linux)
      let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      build = URL(fileURLWithPath: tests).deletingLastPathComponent().path
    #else
      let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
      let tests = bundle?.bundlePath ?? CommandLine.arguments[0]
      build = URL(fileURLWithPath: tests).deletingLastPathComponent().path
    #endif
  }

  private var flags: [String] {
    let include =
      [build + "/Modules", folder]
      + Self.systemModules.map {
        "\(Page.root)/Sources/\($0)"
      }
    return ["-swift-version", "6", "-package-name", "example"] + include.flatMap { ["-I", $0] }
  }

  /// Compiles a module that others import.
  mutating func compileLibrary(_ target: Example.Target) throws {
    let object = "\(folder)/\(target.name).o"
    try run(
      flags + [
        "-module-name", target.name, "-parse-as-library", "-wmo", "-emit-object", "-o", object,
        "-emit-module", "-emit-module-path", "\(folder)/\(target.name).swiftmodule",
      ] + write(target))
    libraries.append(object)
  }

  /// Compiles and links a program, which is then at the path that is returned.
  func compileProgram(_ target: Example.Target) throws -> String {
    let program = "\(folder)/bin/\(target.name)"
    let isScript = target.files.contains { $0.name == "main.swift" }
    let name = target.name.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
    try run(
      flags + ["-module-name", name, "-o", program] + (isScript ? [] : ["-parse-as-library"])
        + write(target) + libraries + objects() + ["-llmdb", "-lxxhash", "-lzstd"])
    return program
  }

  /// Compiles a file without keeping anything.
  func check(_ file: Example.File) throws {
    try run(
      flags + ["-typecheck", "-parse-as-library"]
        + write(Example.Target(name: "Statements", files: [file])))
  }

  /// Compiles a package's manifest.
  func checkManifest(_ file: Example.File) throws {
    let resources = try runtimeResourcePath()
    try run(
      ["-swift-version", "6", "-typecheck", "-package-description-version", "6.2", "-I"]
        + ["\(resources)/pm/ManifestAPI"]
        + write(Example.Target(name: "Manifest", files: [file])))
  }

  private func runtimeResourcePath() throws -> String {
    let outcome = try runProgram("swiftc", ["-print-target-info"], in: folder)
    guard let found = outcome.output.firstMatch(of: /"runtimeResourcePath": "([^"]+)"/) else {
      throw Failure(description: "swiftc doesn't say where its resources are: \(outcome.output)")
    }
    return String(found.1)
  }

  /// The objects of the library's modules.
  private func objects() throws -> [String] {
    try Self.modules.flatMap { module -> [String] in
      let folder = "\(build)/\(module).build"
      return try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(".swift.o") }.map { "\(folder)/\($0)" }
    }
  }

  private func write(_ target: Example.Target) throws -> [String] {
    let sources = "\(folder)/Sources/\(target.name)"
    try FileManager.default.createDirectory(
      atPath: sources, withIntermediateDirectories: true)
    return try target.files.map { file in
      let path = "\(sources)/\(file.name)"
      try file.text.write(toFile: path, atomically: false, encoding: .utf8)
      return path
    }
  }

  private func run(_ arguments: [String]) throws {
    let outcome = try runProgram("swiftc", arguments, in: folder)
    guard outcome.status == 0 else {
      let errors = outcome.output.split(separator: "\n").filter { $0.contains("error:") }
      throw Failure(
        description: errors.isEmpty ? outcome.output : errors.joined(separator: "\n"))
    }
  }
}
