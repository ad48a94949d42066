import CDEManagedModel
import CDEModelRuntime
import Foundation

@NSMainModelActor
final class Reader {}  // warning: is not marked @MainActor, so its own members may run elsewhere

@MainActor @NSMainModelActor
final class Marked {}
