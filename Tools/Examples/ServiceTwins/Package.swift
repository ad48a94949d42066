// swift-tools-version: 6.2
import PackageDescription

// The measured requests of the example Service, written without the library: with GRDB over SQLite, and with libpq over PostgreSQL.
let package = Package(
  name: "ServiceTwins",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "grdb-twin", targets: ["grdb-twin"]),
    .executable(name: "libpq-twin", targets: ["libpq-twin"]),
  ],
  dependencies: [
    // As in the service.
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: ["FullFoundation"]),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CLibPQ", pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .yum(["libpq-devel"]), .brew(["libpq"])]),
    .target(
      name: "TwinKit",
      dependencies: [
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .executableTarget(
      name: "grdb-twin", dependencies: ["TwinKit", .product(name: "GRDB", package: "GRDB.swift")]),
    .executableTarget(name: "libpq-twin", dependencies: ["TwinKit", "CLibPQ"]),
  ],
  swiftLanguageModes: [.v6]
)
