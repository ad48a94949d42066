// swift-tools-version: 6.2
import Foundation
import PackageDescription

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
  name: "Porting",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CDECoreData", targets: ["CDECoreData"]),
    .library(name: "CDELogging", targets: ["CDELogging"]),
    .library(name: "CDEXCTestPorting", targets: ["CDEXCTestPorting"]),
    .library(name: "CDESourceRewriting", targets: ["CDESourceRewriting"]),
    .library(name: "CDEModelClasses", targets: ["CDEModelClasses"]),
    .executable(name: "coredata-sources", targets: ["coredata-sources"]),
    .plugin(name: "CoreDataSources", targets: ["CoreDataSources"]),
  ],
  dependencies: [
    .package(name: "Store", path: "../Store"),
    .package(name: "Models", path: "../Models"),
    .package(name: "ModelRuntime", path: "../ModelRuntime"),
    .package(name: "SwiftData", path: "../SwiftData"),
  ],
  targets: [
    .target(
      name: "CDECoreData",
      dependencies: [
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEModelFiles", package: "Models"),
        .product(name: "CDEPredicates", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
        "CDELogging",
      ]),
    .target(name: "CDELogging"),
    .target(name: "CDEXCTestPorting", dependencies: ["CDECoreData"]),
    .target(
      name: "CDESourceRewriting",
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
    .target(
      name: "CDEModelClasses",
      dependencies: [
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
        .product(name: "CDEStore", package: "Store"),
      ]),
    .target(
      name: "CDESourceTool",
      dependencies: ["CDESourceRewriting", .product(name: "CDEModelFiles", package: "Models")],
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
    .executableTarget(
      name: "coredata-sources-build",
      dependencies: ["CDESourceTool"],
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
    .executableTarget(
      name: "coredata-sources",
      dependencies: [
        "CDESourceTool", "CDESourceRewriting", "CDEModelClasses",
        .product(name: "CDEModelFiles", package: "Models"),
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
      ],
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
    .plugin(
      name: "CoreDataSources",
      capability: .buildTool(),
      dependencies: ["coredata-sources-build"],
      path: "Plugins/CoreDataSources"),
    .testTarget(
      name: "CDECoreDataTests",
      dependencies: [
        "CDECoreData", "CDELogging", .product(name: "CDESQLiteFaults", package: "Store"),
      ]),
    .testTarget(
      name: "CDESourceRewritingTests",
      dependencies: [
        "CDESourceRewriting", "CDESourceTool", "CDEModelClasses", "coredata-sources",
        .product(name: "CDEManagedModel", package: "Models"),
        .product(name: "CDEModelRuntime", package: "ModelRuntime"),
        .product(name: "CDESwiftData", package: "SwiftData"),
        .product(name: "CDESQLiteFaults", package: "Store"),
      ],
      swiftSettings: [.unsafeFlags(swiftFlags)],
      linkerSettings: [.unsafeFlags(linkFlags)]),
  ],
  swiftLanguageModes: [.v6]
)
