// swift-tools-version: 6.2
import PackageDescription

// A web service over the library. Its packages are its own: nothing else of the repository names them.
let package = Package(
  name: "Service",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "package-service", targets: ["package-service"])],
  traits: [
    .trait(name: "PostgreSQL", description: "The store may be on a server. Needs the headers of libpq.")
  ],
  dependencies: [
    .package(
      name: "CoreDataEvolution", path: "../../..",
      traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    .package(
      name: "Tools", path: "../..",
      traits: [.trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"]))]),
    // Without its default trait ConfigurationSupport, so that fewer packages are compiled.
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: ["FullFoundation"]),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.10.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
  ],
  targets: [
    // For a test that locks the store's file as another program does.
    .systemLibrary(
      name: "SystemSQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"]), .brew(["sqlite"])]),
    .target(
      name: "ServiceKit",
      dependencies: [
        .product(name: "CoreDataEvolution", package: "CoreDataEvolution"),
        .product(
          name: "CDEPostgreSQL", package: "CoreDataEvolution", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "PackageModel", package: "Tools"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
      ]),
    .executableTarget(
      name: "package-service",
      dependencies: [
        "ServiceKit",
        .product(name: "PackageModel", package: "Tools"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    .testTarget(
      name: "ServiceTests",
      dependencies: [
        "ServiceKit", "package-service", "SystemSQLite",
        .product(name: "CDESQLiteFaults", package: "CoreDataEvolution"),
        .product(
          name: "CDEPostgreSQL", package: "CoreDataEvolution", condition: .when(traits: ["PostgreSQL"])),
        .product(name: "PackageModel", package: "Tools"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
