/// The modules whose imports the rewriter knows.
enum ImportedModules {
  /// Modules of Apple's platforms that have a replacement, and the replacement.
  static let replaced = [
    "CoreData": "CDECoreData", "SwiftData": "CDESwiftData", "os": "CDELogging", "OSLog": "CDELogging",
  ]

  /// Modules whose names also stand before a point, or in `canImport`.
  static let named: Set<String> = ["CoreData", "SwiftData"]

  /// What to do about an import whose replacement the target does not depend on.
  static func advice(_ name: String, _ replacement: String) -> String {
    "Add the product \(replacement) of CoreDataEvolution to the dependencies of the target. The import of \(name) then becomes one "
      + "of \(replacement)."
  }

  /// Frameworks without a replacement, and what to do about an import.
  static let absent: [String: String] = {
    let leaveOut = "Leave the file out (\"leaveOut\" in CoreDataSources.json)"
    let interface = "\(leaveOut), or put the import and what needs it inside #if canImport(NAME)."
    var table = [
      "Combine":
        "\(leaveOut), put what publishes inside #if canImport(Combine), or depend on a package that offers "
        + "Combine's interface and import that.",
      "CloudKit":
        "\(leaveOut), or put the import inside #if canImport(CloudKit). NSPersistentCloudKitContainer itself "
        + "needs no import of it: here it is a container without synchronisation.",
      "CoreSpotlight":
        "\(leaveOut), or put the import inside #if canImport(CoreSpotlight). Stores have no search index here.",
    ]
    for name in [
      "UIKit", "AppKit", "SwiftUI", "WatchKit", "Cocoa", "WidgetKit", "MapKit", "CoreLocation",
      "AVFoundation",
      "Photos", "Contacts", "EventKit", "HealthKit", "HomeKit", "StoreKit", "UserNotifications",
      "MobileCoreServices",
      "UniformTypeIdentifiers", "CoreGraphics", "CoreImage", "QuartzCore", "SystemConfiguration", "Security",
      "LocalAuthentication", "WebKit", "MessageUI", "Intents", "AppIntents", "Messages", "SafariServices",
      "ObjectiveC",
      "CryptoKit", "NaturalLanguage", "BackgroundTasks",
    ] {
      table[name] = interface.replacing("NAME", with: name)
    }
    return table
  }()
}
