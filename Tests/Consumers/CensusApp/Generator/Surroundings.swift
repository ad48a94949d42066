/// The package's files beside the classes and the tests.
enum Surroundings {
  static let manifest = """
    // swift-tools-version: 6.2
    import PackageDescription

    #if os(Linux)
      let evolution: [Package.Dependency] = [
        // Not by URL as the packages beside it: it shares the build of the root's tests, with its trait.
        .package(
          name: "CoreDataEvolution", path: Context.environment["CDE_FOLDER"] ?? "",
          traits: Set(Context.environment["CDE_TRAIT"].map { [.trait(name: $0)] } ?? []))
      ]
      let rewriting: [Target.PluginUsage] = [.plugin(name: "CoreDataSources", package: "CoreDataEvolution")]
      let targets: [Target] = [
        .target(
          name: "Large", dependencies: [.product(name: "CDECoreData", package: "CoreDataEvolution")], path: ".",
          exclude: ["App", "AppTests", "Beside", "Linux/LargeTests", "Linux/Large/CoreDataSources.json"],
          sources: ["Linux/Large"], plugins: rewriting),
        .testTarget(
          name: "LargeTests", dependencies: ["Large"], path: ".",
          exclude: ["App", "AppTests", "Beside", "Linux/Large", "Linux/LargeTests/CoreDataSources.json"],
          sources: ["Linux/LargeTests"], plugins: rewriting),
        .target(name: "Beside", dependencies: ["Large"], path: "Beside"),
      ]
    #else
      let evolution: [Package.Dependency] = []
      let targets: [Target] = [
        .target(name: "Large", path: "App/Model", exclude: ["Screens"], resources: [.process("Large.xcdatamodeld")]),
        .testTarget(name: "LargeTests", dependencies: ["Large"], path: "AppTests"),
      ]
    #endif

    let package = Package(
      name: "CensusApp", platforms: [.macOS(.v12), .iOS(.v15)], dependencies: evolution, targets: targets,
      swiftLanguageModes: [.v5])

    """

  /// A target that is not rewritten.
  static let beside = """
    import Large

    #if canImport(CoreData)
      #error("A target without the plug-in sees a module CoreData.")
    #endif

    public let states = EntityState.allCases

    """

  static let settings = """
    { "sources": "App/Model", "leaveOut": ["Screens", "*+UIKit.swift"] }

    """

  static let testSettings = """
    { "sources": "AppTests" }

    """

  static let currentVersion = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    <dict>
    \t<key>_XCCurrentVersionName</key>
    \t<string>Large v2.xcdatamodel</string>
    </dict>
    </plist>

    """

  /// Left out on Linux.
  static let screen = """
    import UIKit

    final class OrdersViewController: UITableViewController {
      @IBOutlet weak var button: UIButton!
    }

    """

  /// Enumerations, the transformer, and what uses the classes generically.
  static let support = """
    import CoreData
    import Foundation
    #if canImport(UIKit)
      import UIKit
    #endif

    @objc public enum EntityState: Int16, CaseIterable {
      case draft
      case active
      case done
    }

    @objc public enum EntityLevel: Int16 {
      case low = 0, medium, high
    }

    public enum EntityMode: String {
      case automatic, manual
    }

    public enum Namespace {}

    @objc(StringsTransformer)
    public final class StringsTransformer: ValueTransformer {
      public override class func transformedValueClass() -> AnyClass { return NSData.self }
      public override class func allowsReverseTransformation() -> Bool { return true }

      public override func transformedValue(_ value: Any?) -> Any? {
        guard let strings = value as? [String] else { return nil }
        return strings.joined(separator: "\\u{1f}").data(using: .utf8)
      }

      public override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data, let text = String(data: data, encoding: .utf8) else { return nil }
        return text.components(separatedBy: "\\u{1f}")
      }
    }

    public struct Shelf {
      public static let model: NSManagedObjectModel = {
        let name = NSValueTransformerName(rawValue: "StringsTransformer")
        ValueTransformer.setValueTransformer(StringsTransformer(), forName: name)
        #if SWIFT_PACKAGE
          let bundle = Bundle.module
        #else
          let bundle = Bundle(for: StringsTransformer.self)
        #endif
        return NSManagedObjectModel(contentsOf: bundle.url(forResource: "Large", withExtension: "momd")!)!
      }()

      public let container: NSPersistentContainer

      public init() {
        container = NSPersistentContainer(name: "Large", managedObjectModel: Shelf.model)
        container.persistentStoreDescriptions = [
          NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
        ]
        container.loadPersistentStores { _, error in
          if let error = error { fatalError("\\(error)") }
        }
      }

      public func all<T: NSManagedObject>(_ type: T.Type) throws -> [T] {
        let request = type.fetchRequest() as! NSFetchRequest<T>
        request.returnsObjectsAsFaults = false
        return try container.viewContext.fetch(request)
      }

      public func count(_ name: String) throws -> Int {
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: name)
        request.resultType = .countResultType
        return try container.viewContext.count(for: request)
      }
    }

    """
}
