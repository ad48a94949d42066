import CDESQLiteStore
import CDEStore

let schema = StoreSchema(entities: [
  StoreEntity(
    name: "Person",
    attributes: [
      StoreAttribute(name: "name", type: .string), StoreAttribute(name: "age", type: .integer16),
    ])
])
let store = try SQLiteStore(
  schema: schema, configuration: SQLiteStore.Configuration(location: .inMemory(name: "People")))
guard let person = store.schema.entity(named: "Person"),
  let age = person.layout.slot(named: "age"),
  let nameCell = person.layout.cells.firstIndex(where: { $0.name == "name" }),
  let ageCell = person.layout.cells.firstIndex(where: { $0.name == "age" })
else { fatalError("The schema lost its entity.") }

func batch(_ people: [(name: String, age: Int64)]) -> RowBatch {
  var rows = RowBatchBuilder(layout: person.layout)
  for (index, one) in people.enumerated() {
    // Keys below zero are the caller's own until the commit.
    rows.beginRow(key: Int64(-1 - index), version: 1)
    rows.setString(nameCell, one.name)
    rows.setInteger(ageCell, one.age)
  }
  return rows.finish()
}

var transaction = StoreTransaction()
transaction.inserted = [batch([("Ada", 36), ("Grace", 85), ("Alan", 41)])]
_ = try store.commit(transaction)

let path = StoreExpression.path(StorePath(end: .property(slot: age, leaf: 0)))
let found = try store.fetch(
  StoreQuery(
    entity: person.index, filter: .comparison(path, .greater, .value(.integer(40)), []),
    sort: [StoreSort(path)]),
  isKnown: nil)
let names = found.batches.flatMap { batch in (0..<batch.count).compactMap { batch.string($0, nameCell) } }
precondition(names == ["Alan", "Grace"], "fetched \(names)")
try store.close()
print("committed and fetched: \(names)")
