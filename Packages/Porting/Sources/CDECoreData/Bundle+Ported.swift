@_spi(CDE) internal import CDEModelFiles
public import Foundation

// The package manager puts a target's resources into a folder beside the program. The look-ups that Apple's platforms have
// for them find nothing on Linux, so rewritten sources call these.
extension Bundle {
  /// What `Bundle.main` becomes: the resources of the calling target, or the program's own folder.
  public static func _cdMain(_ file: String = #fileID) -> Bundle {
    resources(of: ModelResources.module(in: file)) ?? .main
  }

  /// What `Bundle(for:)` becomes: the resources of the class's target, or the program's own folder.
  public static func _cdPorted(for type: AnyClass) -> Bundle {
    let name = String(reflecting: type)
    return resources(of: String(name.prefix { $0 != "." })) ?? .main
  }

  /// What `urls(forResourcesWithExtension:subdirectory:)` becomes. Foundation has other elements on Linux.
  public func _cdURLs(
    forResourcesWithExtension type: String?, subdirectory: String?, localization: String? = nil
  ) -> [URL]? {
    let found =
      localization.map { urls(forResourcesWithExtension: type, subdirectory: subdirectory, localization: $0) }
      ?? urls(forResourcesWithExtension: type, subdirectory: subdirectory)
    return found.map { $0.map { $0 as URL } }
  }

  /// The resources of a module; without any of its own, those of another target with a model.
  private static func resources(of module: String) -> Bundle? {
    let folders = ModelResources.folders(of: module)
    let found =
      folders.first { ModelResources.isOwn($0, module) } ?? folders.first(where: ModelResources.hasModel)
    return found.flatMap { Bundle(path: $0.path) }
  }
}

/// What `NSClassFromString` becomes in rewritten sources: it knows the names that `@objc(Name)` gives.
public func _cdClassFromString(_ name: String, _ file: String = #fileID) -> AnyClass? {
  NSManagedObject._cdClass(named: name, in: ModelResources.module(in: file)) ?? NSClassFromString(name)
}

/// Runs a block. On Apple's platforms it also drains a pool of Objective-C objects, which Linux does not have.
public func autoreleasepool<Result, Failure: Error>(
  invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  try body()
}
