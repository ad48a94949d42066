@_spi(CDE) public import CDEManagedModel
internal import CDEPredicates
internal import Foundation

extension NSManagedObjectModel {
  /// The fetch requests that the model describes, by name. Each access makes new requests.
  public var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
    fetchRequestTemplates.mapValues { $0.request() }
  }

  /// A fetch request that the model describes.
  ///
  /// - Parameter name: the name that the editor shows.
  /// - Returns: a new request, whose condition still has its variables; nil if the model has no such request.
  public func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
    fetchRequestTemplates[name]?.request()
  }

  /// A fetch request that the model describes, with values for its variables.
  ///
  /// - Parameters:
  ///   - name: the name that the editor shows.
  ///   - variables: values by the names of variables, without the dollar sign.
  /// - Returns: a new request; nil if the model has no such request.
  public func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    let request = fetchRequestTemplates[name]?.request()
    request?.predicate = request?.predicate?.withSubstitutionVariables(variables)
    return request
  }

  /// Adds a request to the model, or replaces the one of that name. Nil removes it.
  ///
  /// - Parameters:
  ///   - template: the request; its values are copied.
  ///   - name: its name.
  /// - Precondition: the model is not in use.
  public func setFetchRequestTemplate(
    _ template: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
  ) {
    fetchRequestTemplates[name] = template.map(FetchRequestTemplate.init)
  }
}

extension NSFetchedPropertyDescription {
  /// The request whose result is the property's value; nil for no result. Each access makes a new request, so set the
  /// property to change it.
  ///
  /// In its condition `$FETCH_SOURCE` is the object that has the property, `$FETCH_SOURCE.key` one of its values, and
  /// `$FETCHED_PROPERTY.userInfo.key` a value of this description.
  ///
  /// - Precondition: to set it, the model is not in use.
  public var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    get { template?.request() }
    set { template = newValue.map(FetchRequestTemplate.init) }
  }
}

extension FetchRequestTemplate {
  fileprivate init(_ request: NSFetchRequest<any NSFetchRequestResult>) {
    self.init(entityName: request.entityName ?? "", predicate: request.predicate)
    sortKeys = (request.sortDescriptors ?? []).compactMap { descriptor in
      (try? SortTerm(descriptor)).map { SortKey(key: $0.key, ascending: $0.ascending) }
    }
    resultType = request.resultType.rawValue
    fetchLimit = request.fetchLimit
    fetchOffset = request.fetchOffset
    fetchBatchSize = request.fetchBatchSize
    includesSubentities = request.includesSubentities
    includesPropertyValues = request.includesPropertyValues
    returnsObjectsAsFaults = request.returnsObjectsAsFaults
    includesPendingChanges = request.includesPendingChanges
    returnsDistinctResults = request.returnsDistinctResults
  }

  func request() -> NSFetchRequest<any NSFetchRequestResult> {
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entityName)
    request.predicate = predicate
    if !sortKeys.isEmpty {
      request.sortDescriptors = sortKeys.map { key in
        var term = SortTerm(keyPath: key.key.split(separator: ".").map(String.init), ascending: key.ascending)
        switch key.selector {
        case "caseInsensitiveCompare:": term.collation = .caseInsensitive
        case "localizedCompare:", "localizedCaseInsensitiveCompare:": term.collation = .localized
        case "localizedStandardCompare:": term.collation = .localizedStandard
        default: break
        }
        return NSSortDescriptor(term)
      }
    }
    request.resultType = NSFetchRequestResultType(rawValue: resultType)
    request.fetchLimit = fetchLimit
    request.fetchOffset = fetchOffset
    request.fetchBatchSize = fetchBatchSize
    request.includesSubentities = includesSubentities
    request.includesPropertyValues = includesPropertyValues
    request.returnsObjectsAsFaults = returnsObjectsAsFaults
    request.includesPendingChanges = includesPendingChanges
    request.returnsDistinctResults = returnsDistinctResults
    return request
  }
}
