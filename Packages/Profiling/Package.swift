// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Profiling",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CDEProfiling", targets: ["CDEProfiling"])
  ],
  dependencies: [
    .package(name: "Executors", path: "../Executors")
  ],
  targets: [
    .target(
      name: "CDEProfiling", dependencies: [.product(name: "CDEExecutors", package: "Executors")]),
    .testTarget(
      name: "CDEProfilingTests",
      dependencies: ["CDEProfiling", .product(name: "CDEExecutors", package: "Executors")]),
  ],
  swiftLanguageModes: [.v6]
)
