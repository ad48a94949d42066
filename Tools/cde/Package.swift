// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// The folder of the running toolchain that holds its own SwiftSyntax modules, for `cde-source-facts`.
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
  "SwiftSyntax", "SwiftBasicFormat", "SwiftParser", "SwiftDiagnostics", "SwiftParserDiagnostics",
]

var swiftFlags: [String] = []
var linkFlags: [String] = []
// Without it everything but `cde-source-facts` builds.
if let host = toolchainHostFolder() {
  swiftFlags = ["-I", host]
  linkFlags = ["-L", host, "-Xlinker", "-rpath", "-Xlinker", host] + syntaxModules.map { "-l\($0)" }
}

// The command `cde`, a package of its own: the project's packages have no dependencies, and this one has argument-parser, and
// Hummingbird for the pages of `cde studio`.
let package = Package(
  name: "cde",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "cde", targets: ["cde"]),
    .executable(name: "cde-source-facts", targets: ["cde-source-facts"]),
    .library(name: "CDEDiagrams", targets: ["CDEDiagrams"]),
  ],
  traits: [
    .trait(name: "PostgreSQL", description: "Stores on a server. Needs the headers of libpq.")
  ],
  dependencies: [
    .package(
      name: "CoreDataEvolution", path: "../..",
      traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    // The traits are those of Examples/Service, so that both find it compiled in one build folder.
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: ["FullFoundation"]),
  ],
  targets: [
    .systemLibrary(
      name: "SystemSQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"]), .brew(["sqlite"])]),
    // Apart from the tool kit for programs that only draw: the demo.
    .target(
      name: "CDEDiagrams",
      dependencies: [.product(name: "CDEManagedModel", package: "CoreDataEvolution")]),
    .target(
      name: "CDEToolKit",
      dependencies: [
        "CDEDiagrams", "SystemSQLite", "CDESourceFacts",
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteStore", package: "CoreDataEvolution"),
        .product(name: "CDEStore", package: "CoreDataEvolution"),
        .product(name: "CDEModelFiles", package: "CoreDataEvolution"),
        .product(name: "CDEManagedModel", package: "CoreDataEvolution"),
        .product(name: "CDEModelRuntime", package: "CoreDataEvolution"),
        .product(name: "CDEPredicates", package: "CoreDataEvolution"),
        .product(name: "CDEModelClasses", package: "CoreDataEvolution"),
        .product(
          name: "CDEPostgreSQL", package: "CoreDataEvolution", condition: .when(traits: ["PostgreSQL"])),
        .product(
          name: "CDEPostgreSQLStore", package: "CoreDataEvolution", condition: .when(traits: ["PostgreSQL"])),
      ]),
    // The only target that needs a server.
    .target(
      name: "CDEStudio",
      dependencies: ["CDEToolKit", .product(name: "Hummingbird", package: "hummingbird")],
      // Part of the program, which is one file.
      resources: [
        .embedInCode("Assets/studio.html"),
        .embedInCode("Assets/studio.css"),
        .embedInCode("Assets/icon.svg"),
        .embedInCode("Assets/base.js"),
        .embedInCode("Assets/grid.js"),
        .embedInCode("Assets/rows.js"),
        .embedInCode("Assets/form.js"),
        .embedInCode("Assets/object.js"),
        .embedInCode("Assets/diagram.js"),
        .embedInCode("Assets/lists.js"),
        .embedInCode("Assets/start.js"),
      ]),
    .executableTarget(
      name: "cde",
      dependencies: [
        "CDEDiagrams", "CDEToolKit", "CDEStudio",
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    // Writes the stores for Tests/Browser/run.
    .executableTarget(
      name: "studio-samples",
      dependencies: [
        "SystemSQLite", .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
      ],
      path: "Tests/Browser/Samples"),
    // What `cde-source-facts` prints and the tool kit reads.
    .target(name: "CDESourceFacts"),
    // A program of its own: the parser is a set of dynamic libraries, and `cde` is linked statically when it is installed.
    .executableTarget(
      name: "cde-source-facts",
      dependencies: ["CDESourceFacts"],
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
    .testTarget(
      name: "CDEToolKitTests",
      dependencies: [
        "CDEDiagrams", "CDEToolKit", "CDEStudio", "CDESourceFacts", "SystemSQLite", "cde", "cde-source-facts",
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(name: "CDEModelFiles", package: "CoreDataEvolution"),
        .product(name: "CDEModelRuntime", package: "CoreDataEvolution"),
        .product(name: "CDESQLiteFaults", package: "CoreDataEvolution"),
        .product(name: "CDESwiftData", package: "CoreDataEvolution"),
        .product(
          name: "CDEPostgreSQL", package: "CoreDataEvolution", condition: .when(traits: ["PostgreSQL"])),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
