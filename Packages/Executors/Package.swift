// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Executors",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CDEExecutors", targets: ["CDEExecutors"])
  ],
  targets: [
    .systemLibrary(name: "CDETaskABI"),
    .systemLibrary(name: "CDEUnwind"),
    .target(name: "CDEExecutors", dependencies: ["CDETaskABI", "CDEUnwind"]),
    .testTarget(name: "CDEExecutorsTests", dependencies: ["CDEExecutors"]),
  ],
  swiftLanguageModes: [.v6]
)
