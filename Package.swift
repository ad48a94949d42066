// swift-tools-version: 6.2
import CompilerPluginSupport
import Foundation
import PackageDescription

// The layers under Packages/ are complete packages of their own. This manifest declares the same
// targets by path, because a package fetched by URL may not depend on local packages.
// Tools/check compares the two and fails when they drift apart.

/// The folder of the running toolchain that holds its own SwiftSyntax modules.
///
/// The manifest runs inside the package manager's process, whose memory map names the toolchain it
/// came from; no environment variable does so reliably.
func toolchainHostFolder() -> String? {
  guard let maps = FileHandle(forReadingAtPath: "/proc/self/maps") else { return nil }
  // Read to its end through a handle: the kernel hands the file out in pieces.
  let text = String(decoding: (try? maps.readToEnd()) ?? Data(), as: UTF8.self)
  let marker = "/lib/swift/pm/ManifestAPI/libPackageDescription.so"
  for line in text.split(separator: "\n") where line.hasSuffix(marker) {
    guard let start = line.firstIndex(of: "/") else { continue }
    let host = line[start...].dropLast(marker.count) + "/lib/swift/host"
    if FileManager.default.fileExists(atPath: host + "/SwiftSyntax.swiftmodule") {
      return String(host)
    }
  }
  return nil
}

let syntaxModules = [
  "SwiftSyntax", "SwiftSyntaxMacros", "SwiftSyntaxBuilder", "SwiftParser", "SwiftDiagnostics",
  "SwiftOperators", "SwiftBasicFormat", "SwiftSyntaxMacroExpansion",
  "SwiftCompilerPluginMessageHandling", "SwiftParserDiagnostics", "SwiftIfConfig",
]

var swiftFlags: [String] = []
var linkFlags: [String] = []
if let host = toolchainHostFolder() {
  swiftFlags = ["-I", host]
  linkFlags = ["-L", host, "-Xlinker", "-rpath", "-Xlinker", host] + syntaxModules.map { "-l\($0)" }
} else {
  #if os(Linux)
    fatalError(
      """
      The Swift toolchain's SwiftSyntax modules were not found (<toolchain>/lib/swift/host). \
      Install the full toolchain from swift.org; slim images leave them out.
      """)
  #endif
}

let package = Package(
  name: "CoreDataEvolution",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CoreDataEvolution", targets: ["CoreDataEvolution"]),
    .library(name: "CDEExecutors", targets: ["CDEExecutors"]),
    .library(name: "CDEProfiling", targets: ["CDEProfiling"]),
    .library(name: "CDEOperators", targets: ["CDEOperators"]),
    .library(name: "CDEStore", targets: ["CDEStore"]),
    .library(name: "CDESQL", targets: ["CDESQL"]),
    .library(name: "CDESQLiteStore", targets: ["CDESQLiteStore"]),
    .library(name: "CDESQLiteFaults", targets: ["CDESQLiteFaults"]),
    .library(name: "CDEPostgreSQLStore", targets: ["CDEPostgreSQLStore"]),
    .library(name: "CDEManagedModel", targets: ["CDEManagedModel"]),
    .library(name: "CDEPredicates", targets: ["CDEPredicates"]),
    .library(name: "CDEModelFiles", targets: ["CDEModelFiles"]),
    .library(name: "CDEModelRuntime", targets: ["CDEModelRuntime"]),
    .library(name: "CDEPostgreSQL", targets: ["CDEPostgreSQL"]),
    .library(name: "CDEObservation", targets: ["CDEObservation"]),
    .library(name: "CDEDatabases", targets: ["CDEDatabases"]),
    .library(name: "CDESwiftData", targets: ["CDESwiftData"]),
    .library(name: "CDETestSupport", targets: ["CDETestSupport"]),
    .library(name: "CDETesting", targets: ["CDETesting"]),
    .library(name: "CDEXCTest", targets: ["CDEXCTest"]),
    .library(name: "CDECoreData", targets: ["CDECoreData"]),
    .library(name: "CDELogging", targets: ["CDELogging"]),
    .library(name: "CDEXCTestPorting", targets: ["CDEXCTestPorting"]),
    .library(name: "CDESourceRewriting", targets: ["CDESourceRewriting"]),
    .library(name: "CDEModelClasses", targets: ["CDEModelClasses"]),
    .executable(name: "coredata-sources", targets: ["coredata-sources"]),
    .plugin(name: "CoreDataSources", targets: ["CoreDataSources"]),
  ],
  traits: [
    .trait(name: "PostgreSQL", description: "The engine over libpq. Needs the headers of libpq.")
  ],
  targets: [
    // Executors
    .systemLibrary(name: "CDETaskABI", path: "Packages/Executors/Sources/CDETaskABI"),
    .systemLibrary(name: "CDEUnwind", path: "Packages/Executors/Sources/CDEUnwind"),
    .target(
      name: "CDEExecutors", dependencies: ["CDETaskABI", "CDEUnwind"],
      path: "Packages/Executors/Sources/CDEExecutors"),
    .testTarget(
      name: "CDEExecutorsTests",
      dependencies: ["CDEExecutors"],
      path: "Packages/Executors/Tests/CDEExecutorsTests"),

    // Profiling
    .target(
      name: "CDEProfiling",
      dependencies: ["CDEExecutors"],
      path: "Packages/Profiling/Sources/CDEProfiling"),
    .testTarget(
      name: "CDEProfilingTests",
      dependencies: ["CDEProfiling", "CDEExecutors"],
      path: "Packages/Profiling/Tests/CDEProfilingTests"),

    // Store
    .systemLibrary(
      name: "CDESQLite",
      path: "Packages/Store/Sources/CDESQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"]), .brew(["sqlite"])]),
    .target(
      name: "CDEOperators",
      dependencies: ["CDEExecutors"],
      path: "Packages/Store/Sources/CDEOperators"),
    .target(
      name: "CDEStore",
      dependencies: ["CDEExecutors", "CDEOperators"],
      path: "Packages/Store/Sources/CDEStore"),
    .target(
      name: "CDESQL",
      dependencies: ["CDEOperators", "CDEStore"],
      path: "Packages/Store/Sources/CDESQL"),
    .target(
      name: "CDESQLiteStore",
      dependencies: ["CDEOperators", "CDEStore", "CDESQL", "CDESQLite", "CDEExecutors"],
      path: "Packages/Store/Sources/CDESQLiteStore"),
    .target(
      name: "CDESQLiteFaults",
      dependencies: ["CDESQLite", "CDEExecutors"],
      path: "Packages/Store/Sources/CDESQLiteFaults"),
    .target(
      name: "CDEStoreTestKit",
      dependencies: ["CDEStore", "CDESQLiteFaults"],
      path: "Packages/Store/Tests/CDEStoreTestKit"),
    .testTarget(
      name: "CDEStoreTests",
      dependencies: ["CDEStore"],
      path: "Packages/Store/Tests/CDEStoreTests"),
    .testTarget(
      name: "CDESQLiteStoreTests",
      dependencies: [
        "CDESQLiteStore", "CDESQLiteFaults", "CDEStoreTestKit", "CDEOperators", "CDEStore", "CDESQL",
        "CDESQLite",
        "CDEExecutors",
      ],
      path: "Packages/Store/Tests/CDESQLiteStoreTests",
      resources: [.copy("Fixtures")]),

    // PostgreSQLStore
    .systemLibrary(
      name: "CDELibPQ",
      path: "Packages/PostgreSQLStore/Sources/CDELibPQ",
      pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .yum(["libpq-devel"]), .brew(["libpq"])]),
    .target(
      name: "CDEPostgreSQLStore",
      dependencies: [
        "CDEExecutors", "CDEOperators", "CDEStore", "CDESQL",
        .target(name: "CDELibPQ", condition: .when(traits: ["PostgreSQL"])),
      ],
      path: "Packages/PostgreSQLStore/Sources/CDEPostgreSQLStore"),
    .testTarget(
      name: "CDEPostgreSQLStoreTests",
      dependencies: [
        "CDEPostgreSQLStore", "CDEExecutors", "CDESQL", "CDESQLiteFaults", "CDESQLiteStore", "CDEStore",
        "CDEStoreTestKit",
      ],
      path: "Packages/PostgreSQLStore/Tests/CDEPostgreSQLStoreTests"),

    // Macros
    .target(
      name: "CDEMacroExpansion",
      path: "Packages/Macros/Sources/CDEMacroExpansion",
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
    .macro(
      name: "CDEMacros",
      dependencies: ["CDEMacroExpansion"],
      path: "Packages/Macros/Sources/CDEMacros",
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
    .testTarget(
      name: "CDEMacroExpansionTests",
      dependencies: ["CDEMacroExpansion"],
      path: "Packages/Macros/Tests/CDEMacroExpansionTests",
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),

    // Models
    .target(
      name: "CDEPredicates",
      dependencies: ["CDEExecutors", "CDEOperators"],
      path: "Packages/Models/Sources/CDEPredicates"),
    .target(
      name: "CDEManagedModel",
      dependencies: ["CDEPredicates", "CDEExecutors", "CDEOperators", "CDEStore"],
      path: "Packages/Models/Sources/CDEManagedModel"),
    .target(
      name: "CDEModelFiles",
      dependencies: ["CDEManagedModel", "CDEPredicates", "CDEExecutors", "CDEStore"],
      path: "Packages/Models/Sources/CDEModelFiles"),
    .testTarget(
      name: "CDEPredicatesTests",
      dependencies: ["CDEOperators", "CDEPredicates"],
      path: "Packages/Models/Tests/CDEPredicatesTests"),
    .testTarget(
      name: "CDEManagedModelTests",
      dependencies: ["CDEManagedModel", "CDEPredicates", "CDEStore"],
      path: "Packages/Models/Tests/CDEManagedModelTests",
      resources: [.copy("Fixtures")]),
    .testTarget(
      name: "CDEModelFilesTests",
      dependencies: ["CDEModelFiles", "CDEManagedModel", "CDEPredicates", "CDEStore", "CDESQLiteFaults"],
      path: "Packages/Models/Tests/CDEModelFilesTests",
      resources: [.copy("Fixtures")]),

    // ModelRuntime
    .systemLibrary(name: "CDERuntimeABI", path: "Packages/ModelRuntime/Sources/CDERuntimeABI"),
    .target(
      name: "CDEModelRuntime",
      dependencies: [
        "CDEManagedModel", "CDEModelFiles", "CDEPredicates", "CDERuntimeABI", "CDEExecutors", "CDEProfiling",
        "CDEOperators", "CDEStore", "CDESQLiteStore",
        "CDEMacros",
      ],
      path: "Packages/ModelRuntime/Sources/CDEModelRuntime"),
    .testTarget(
      name: "CDEModelRuntimeTests",
      dependencies: [
        "CDEModelRuntime", "CDEManagedModel", "CDEModelFiles", "CDEPredicates", "CDEStore",
        "CDESQLiteStore", "CDESQLiteFaults",
        "CDEExecutors", "CDEProfiling",
      ],
      path: "Packages/ModelRuntime/Tests/CDEModelRuntimeTests"),

    // PostgreSQL: the engine for containers
    .target(
      name: "CDEPostgreSQL",
      dependencies: ["CDEStore", "CDEPostgreSQLStore", "CDEManagedModel", "CDEModelRuntime"],
      path: "Packages/PostgreSQL/Sources/CDEPostgreSQL"),
    .target(
      name: "CDEEngineUnderTest",
      dependencies: [
        "CDEPostgreSQL", "CDEExecutors", "CDEStore", "CDESQLiteFaults", "CDEPostgreSQLStore",
        "CDEModelRuntime",
      ],
      path: "Packages/PostgreSQL/Tests/CDEEngineUnderTest"),
    .target(name: "CDEEngineLoader", path: "Packages/PostgreSQL/Tests/CDEEngineLoader"),
    .testTarget(
      name: "CDEPostgreSQLTests",
      dependencies: [
        "CDEPostgreSQL", "CDEEngineUnderTest", "CDEEngineLoader", "CDEExecutors", "CDEStore",
        "CDESQLiteFaults", "CDEPostgreSQLStore", "CDEManagedModel", "CDEModelFiles", "CDEPredicates",
        "CDEModelRuntime",
      ],
      path: "Packages/PostgreSQL/Tests/CDEPostgreSQLTests"),

    // ObservationDomain
    .target(
      name: "CDEObservation",
      dependencies: ["CDEExecutors", "CDEStore", "CDEModelRuntime"],
      path: "Packages/ObservationDomain/Sources/CDEObservation"),
    .target(
      name: "CDEObservationModels",
      dependencies: ["CDEModelRuntime", "CDEManagedModel"],
      path: "Packages/ObservationDomain/Tests/CDEObservationModels"),
    .testTarget(
      name: "CDEObservationTests",
      dependencies: [
        "CDEObservation", "CDEObservationModels", "CDEModelRuntime", "CDEManagedModel", "CDEStore",
        "CDESQLiteFaults",
      ],
      path: "Packages/ObservationDomain/Tests/CDEObservationTests"),

    // Databases
    .target(
      name: "CDEDatabases",
      dependencies: ["CDEExecutors", "CDEStore", "CDEManagedModel", "CDEPredicates", "CDEModelRuntime"],
      path: "Packages/Databases/Sources/CDEDatabases"),
    .testTarget(
      name: "CDEDatabasesTests",
      dependencies: [
        "CDEDatabases", "CDEExecutors", "CDEStore", "CDEManagedModel", "CDEModelRuntime", "CDESQLiteFaults",
      ],
      path: "Packages/Databases/Tests/CDEDatabasesTests"),

    // SwiftData
    .target(
      name: "CDESwiftData",
      dependencies: [
        "CDEExecutors", "CDEStore", "CDEManagedModel", "CDEPredicates", "CDEModelRuntime", "CDEMacros",
      ],
      path: "Packages/SwiftData/Sources/CDESwiftData"),
    .testTarget(
      name: "CDESwiftDataTests",
      dependencies: [
        "CDESwiftData", "CDEExecutors", "CDEStore", "CDESQLiteFaults", "CDEManagedModel", "CDEPredicates",
        "CDEModelRuntime", "CDEPostgreSQL",
      ],
      path: "Packages/SwiftData/Tests/CDESwiftDataTests"),
    .testTarget(
      name: "CDESwiftDataExamples",
      dependencies: ["CDESwiftData"],
      path: "Packages/SwiftData/Tests/CDESwiftDataExamples",
      swiftSettings: [.swiftLanguageMode(.v5)]),

    // TestSupport
    .target(
      name: "CDETestSupport",
      dependencies: [
        "CDEExecutors", "CDEStore", "CDEPredicates", "CDEManagedModel", "CDEModelRuntime", "CDEDatabases",
        "CDESQLiteFaults",
      ],
      path: "Packages/TestSupport/Sources/CDETestSupport"),
    .target(
      name: "CDETesting",
      dependencies: [
        "CDETestSupport", "CDEManagedModel", "CDEModelRuntime", "CDESwiftData", "CDESQLiteFaults",
      ],
      path: "Packages/TestSupport/Sources/CDETesting"),
    .target(
      name: "CDEXCTest",
      dependencies: ["CDETestSupport", "CDEManagedModel", "CDEModelRuntime"],
      path: "Packages/TestSupport/Sources/CDEXCTest"),
    .testTarget(
      name: "CDETestSupportTests",
      dependencies: [
        "CDETestSupport", "CDETesting", "CDEXCTest", "CDEExecutors", "CDEManagedModel", "CDEPredicates",
        "CDEModelRuntime",
        "CDEDatabases", "CDESQLiteFaults", "CDEStore", "CDESwiftData",
      ],
      path: "Packages/TestSupport/Tests/CDETestSupportTests"),

    // Umbrella
    .target(
      name: "CoreDataEvolution",
      dependencies: [
        "CDEExecutors", "CDEProfiling", "CDEStore", "CDESQLiteStore", "CDESQLiteFaults", "CDEManagedModel",
        "CDEModelFiles", "CDEPredicates", "CDEModelRuntime", "CDEObservation", "CDEDatabases",
        "CDETestSupport",
      ],
      path: "Packages/CoreDataEvolution/Sources/CoreDataEvolution"),
    .testTarget(
      name: "CoreDataEvolutionTests",
      dependencies: ["CoreDataEvolution"],
      path: "Packages/CoreDataEvolution/Tests/CoreDataEvolutionTests"),

    // Porting: Core Data sources that stay as they are
    .target(
      name: "CDECoreData",
      dependencies: ["CDEManagedModel", "CDEModelFiles", "CDEPredicates", "CDEModelRuntime", "CDELogging"],
      path: "Packages/Porting/Sources/CDECoreData"),
    .target(name: "CDELogging", path: "Packages/Porting/Sources/CDELogging"),
    .target(
      name: "CDEXCTestPorting",
      dependencies: ["CDECoreData"],
      path: "Packages/Porting/Sources/CDEXCTestPorting"),
    .target(
      name: "CDESourceRewriting",
      path: "Packages/Porting/Sources/CDESourceRewriting",
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
    .target(
      name: "CDEModelClasses",
      dependencies: ["CDEManagedModel", "CDEModelRuntime", "CDEStore"],
      path: "Packages/Porting/Sources/CDEModelClasses"),
    .target(
      name: "CDESourceTool",
      dependencies: ["CDESourceRewriting", "CDEModelFiles"],
      path: "Packages/Porting/Sources/CDESourceTool",
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
    .executableTarget(
      name: "coredata-sources-build",
      dependencies: ["CDESourceTool"],
      path: "Packages/Porting/Sources/coredata-sources-build",
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
    .executableTarget(
      name: "coredata-sources",
      dependencies: [
        "CDESourceTool", "CDESourceRewriting", "CDEModelClasses", "CDEModelFiles", "CDEManagedModel",
        "CDEModelRuntime",
      ],
      path: "Packages/Porting/Sources/coredata-sources",
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
    .plugin(
      name: "CoreDataSources",
      capability: .buildTool(),
      dependencies: ["coredata-sources-build"],
      path: "Packages/Porting/Plugins/CoreDataSources"),
    .testTarget(
      name: "CDECoreDataTests",
      dependencies: ["CDECoreData", "CDELogging", "CDESQLiteFaults"],
      path: "Packages/Porting/Tests/CDECoreDataTests"),
    .testTarget(
      name: "CDESourceRewritingTests",
      dependencies: [
        "CDESourceRewriting", "CDESourceTool", "CDEModelClasses", "coredata-sources", "CDEManagedModel",
        "CDEModelRuntime", "CDESwiftData",
        "CDESQLiteFaults",
      ],
      path: "Packages/Porting/Tests/CDESourceRewritingTests",
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),

    // Whole-system tests, through the umbrella alone
    .testTarget(
      name: "SystemTests",
      dependencies: ["CoreDataEvolution", "CDESQLiteFaults"],
      path: "Tests/SystemTests"),
  ],
  swiftLanguageModes: [.v6]
)
