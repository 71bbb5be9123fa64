// swift-tools-version: 6.2
import PackageDescription

/// Upcoming language features, the same for every target.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableExperimentalFeature("Lifetimes"),
]

let package = Package(
  name: "Hindsight",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "Hindsight", targets: ["Hindsight"]),
    .library(name: "HindsightCore", targets: ["HindsightCore"]),
    .library(name: "HindsightTimeTravel", targets: ["HindsightTimeTravel"]),
    .library(name: "HindsightTool", targets: ["HindsightTool"]),
    .library(name: "HindsightTesting", targets: ["HindsightTesting"]),
    .executable(name: "hindsight", targets: ["hindsight"]),
  ],
  targets: [
    .systemLibrary(
      name: "SystemLMDB", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .systemLibrary(
      name: "SystemXXHash", pkgConfig: "libxxhash",
      providers: [.apt(["libxxhash-dev"]), .brew(["xxhash"])]),
    .systemLibrary(
      name: "SystemZstd", pkgConfig: "libzstd",
      providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),

    .target(name: "HindsightValue", swiftSettings: settings),
    .target(name: "HindsightCore", dependencies: ["HindsightValue"], swiftSettings: settings),
    .target(name: "HindsightLMDB", dependencies: ["SystemLMDB"], swiftSettings: settings),
    .target(
      name: "HindsightLog",
      dependencies: ["HindsightCore", "HindsightLMDB", "SystemXXHash", "SystemZstd"],
      swiftSettings: settings),
    .target(
      name: "Hindsight", dependencies: ["HindsightCore", "HindsightLog", "HindsightValue"],
      swiftSettings: settings),
    .target(
      name: "HindsightTimeTravel",
      dependencies: ["Hindsight", "HindsightCore", "HindsightLog", "HindsightValue"],
      swiftSettings: settings),
    .target(
      name: "HindsightTool",
      dependencies: [
        "Hindsight", "HindsightCore", "HindsightLog", "HindsightTimeTravel", "HindsightValue",
      ],
      swiftSettings: settings),
    .target(
      name: "HindsightTesting", dependencies: ["HindsightCore", "HindsightValue"],
      swiftSettings: settings),

    .executableTarget(
      name: "hindsight", dependencies: ["HindsightTool"], path: "Tools/hindsight",
      swiftSettings: settings),

    .executableTarget(
      name: "ledger", dependencies: ["Hindsight", "HindsightTool"], path: "Tools/examples/ledger",
      swiftSettings: settings),

    .testTarget(
      name: "HindsightValueTests", dependencies: ["HindsightTesting", "HindsightValue"],
      swiftSettings: settings),
    .testTarget(
      name: "HindsightCoreTests", dependencies: ["HindsightCore", "HindsightValue"],
      swiftSettings: settings),
    .testTarget(
      name: "HindsightTests",
      dependencies: ["Hindsight", "HindsightLMDB", "HindsightLog", "HindsightTimeTravel"],
      exclude: ["Fixtures"], swiftSettings: settings),
    .testTarget(
      name: "HindsightLMDBTests", dependencies: ["HindsightLMDB"], swiftSettings: settings),
    .testTarget(
      name: "HindsightLogTests",
      dependencies: ["HindsightCore", "HindsightLMDB", "HindsightLog", "HindsightValue"],
      swiftSettings: settings),
    .testTarget(
      name: "HindsightToolTests", dependencies: ["HindsightCore", "HindsightTool"],
      swiftSettings: settings),
    .testTarget(name: "AppToolTests", swiftSettings: settings),
    .testTarget(
      name: "CommandLineTests", dependencies: ["hindsight"], swiftSettings: settings),
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "Hindsight", "HindsightTesting", "HindsightTimeTravel", "HindsightTool", "hindsight",
      ],
      swiftSettings: settings),
    .testTarget(name: "TidyTests", swiftSettings: settings),

    .target(
      name: "CrashLedger", dependencies: ["HindsightCore"], path: "Tests/CrashLedger",
      swiftSettings: settings),
    .executableTarget(
      name: "crash-child", dependencies: ["CrashLedger", "Hindsight"], path: "Tests/CrashChild",
      swiftSettings: settings),
    .target(
      name: "CrashHarness",
      dependencies: [
        "CrashLedger", "Hindsight", "HindsightCore", "HindsightLog", "HindsightTimeTravel",
        "HindsightTool", "HindsightValue",
      ],
      path: "Tests/CrashHarness", exclude: ["Shim"], swiftSettings: settings),
    .executableTarget(
      name: "torture", dependencies: ["CrashHarness", "crash-child"], path: "Tests/Torture",
      swiftSettings: settings),
    .testTarget(
      name: "CrashTests",
      dependencies: [
        "CrashHarness", "CrashLedger", "Hindsight", "HindsightCore", "HindsightLog",
        "HindsightTimeTravel", "HindsightValue",
        "crash-child", "torture",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "ManyProcessesTests",
      dependencies: [
        "Hindsight", "HindsightCore", "HindsightLMDB", "HindsightLog", "HindsightTimeTravel",
        "HindsightValue", "hindsight",
      ],
      swiftSettings: settings),
  ]
)
