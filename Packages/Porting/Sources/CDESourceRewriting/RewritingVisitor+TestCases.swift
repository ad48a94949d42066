internal import SwiftSyntax

// XCTest of Linux is stricter about isolation than Apple's: a test case of the main actor may not override functions of `XCTestCase`, and in
// language mode 5 the process ends when XCTest takes a test of the main actor for one without isolation.
extension RewritingVisitor {
  private static let prepared: Set<String> = ["setUp", "tearDown", "setUpWithError", "tearDownWithError"]

  /// Splits a test, or a function that prepares one, on the main actor into a function without isolation and a function of the main actor, which
  /// has the body. XCTest calls the former on the main thread.
  func rewritePreparation(_ node: FunctionDeclSyntax) {
    let override = node.modifiers.first(where: { $0.name.text == "override" })
    let isTest =
      node.name.text.hasPrefix("test") && node.signature.parameterClause.parameters.isEmpty
      && node.signature.returnClause == nil && node.genericParameterClause == nil
      && !node.modifiers.contains { ["private", "fileprivate"].contains($0.name.text) }
    guard isTest || override != nil && Self.prepared.contains(node.name.text), node.body != nil,
      !node.modifiers.contains(where: { ["class", "static", "nonisolated"].contains($0.name.text) }),
      node.signature.effectSpecifiers?.asyncSpecifier == nil, isTestCase
    else { return }
    let isMarked = node.attributes.first(named: "MainActor") != nil
    guard isMarked || isOnMainActor else { return }
    let name = "_cdMainActor_\(scope.name.replacing(".", with: "_"))_\(node.name.text)"
    let access = node.modifiers.filter { ["public", "open"].contains($0.name.text) }.map {
      $0.trimmedDescription + " "
    }
    let isThrowing = node.signature.effectSpecifiers?.throwsClause != nil
    let attempt = isThrowing ? "try " : ""
    let binding = index.isOnMainActor ? "" : "nonisolated(unsafe) "
    // Guard: the test case goes from the main thread to the main actor.
    edits.insert(
      "nonisolated \(access.joined())\(override == nil ? "" : "override ")func \(node.name.text)()\(isThrowing ? " throws" : "") { "
        + "\(binding)let me = self; \(attempt)MainActor.assumeIsolated { \(attempt)me.\(name)() } }; "
        + (isMarked ? "" : "@MainActor "),
      at: node.contentRange.lowerBound)
    if let override { edits.remove(override, in: bytes) }
    edits.replace(node.name, with: name)
  }

  /// Restates the initialiser of a test case where classes are isolated to the main actor by default.
  func restateInitializer(_ node: ClassDeclSyntax) {
    guard index.isOnMainActor, isTestCase,
      !node.modifiers.contains(where: { $0.name.text == "nonisolated" }),
      !node.memberBlock.members.contains(where: { $0.decl.is(InitializerDeclSyntax.self) })
    else { return }
    edits.insert(
      " nonisolated required init(name: String, testClosure: @escaping XCTestCaseClosure) { "
        + "super.init(name: name, testClosure: testClosure) };",
      at: node.memberBlock.leftBrace.contentRange.upperBound)
  }

  private var isTestCase: Bool {
    let names = index.lineage(of: scope.name)?.names ?? []
    let root = names.last.flatMap { index.classes[$0]?.superclass } ?? ""
    return root.hasSuffix("TestCase")
  }

  /// Whether the class around the place is isolated to the main actor.
  private var isOnMainActor: Bool {
    if index.isOnMainActor { return true }
    return (index.lineage(of: scope.name)?.names ?? []).contains { index.classes[$0]?.isOnMainActor == true }
  }
}
