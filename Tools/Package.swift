// swift-tools-version: 6.2
import PackageDescription

// The programs beside the library. Nothing under Packages/ depends on this manifest, and it is the only
// one beside the benchmark's that may name a package from outside.
let package = Package(
  name: "Tools",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "CoreDataEvolution", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
  ],
  targets: [
    .executableTarget(
      name: "demo",
      dependencies: [
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      resources: [.copy("Samples")]),
    .testTarget(name: "DemoTests", dependencies: ["demo"]),
  ],
  swiftLanguageModes: [.v6]
)
