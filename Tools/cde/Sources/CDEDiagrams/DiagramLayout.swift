/// Places for the boxes of a diagram, and paths for its lines that touch no box but their own.
///
/// Boxes stand in columns of one width. A line runs in the gaps between columns, and passes a column through a gap
/// between its boxes. The result depends on the model alone.
struct DiagramLayout {
  struct Rectangle {
    var x = 0.0
    var y = 0.0
    var width = 0.0
    var height = 0.0
  }

  struct Point {
    var x: Double
    var y: Double
  }

  static let rowHeight = 18.0
  static let titleHeight = 26.0
  static let letter = 7.3
  static let gap = 26.0
  static let margin = 40.0
  static let passage = 12.0

  private(set) var boxes: [Rectangle]
  /// The points of each line: pairs between which it runs across a gap, joined by horizontal pieces.
  private(set) var paths: [[Point]] = []
  private(set) var width = 0.0
  private(set) var height = 0.0

  private let graph: DiagramGraph

  init(_ graph: DiagramGraph) {
    self.graph = graph
    boxes = graph.boxes.map(Self.size)
    paths = Array(repeating: [], count: graph.lines.count)
    var shelves = Shelves(
      limit: (boxes.reduce(0) { $0 + ($1.width + 120) * ($1.height + Self.gap) } * 1.7).squareRoot())
    for part in Self.parts(graph) {
      var columns = Columns(graph, part, boxes)
      columns.arrange()
      let origin = shelves.place(columns.width, columns.height)
      for (box, rectangle) in columns.rectangles {
        boxes[box] = rectangle
        boxes[box].x += origin.x
        boxes[box].y += origin.y
      }
      for (line, points) in columns.paths {
        paths[line] = points.map { Point(x: $0.x + origin.x, y: $0.y + origin.y) }
      }
    }
    width = shelves.width + 2 * Self.margin
    height = shelves.height + 2 * Self.margin
    for index in boxes.indices {
      boxes[index].x += Self.margin
      boxes[index].y += Self.margin
    }
    for index in paths.indices {
      paths[index] = paths[index].map { Point(x: $0.x + Self.margin, y: $0.y + Self.margin) }
    }
  }

  static func size(_ box: DiagramGraph.Box) -> Rectangle {
    let longest =
      box.rows.map { Double(ShownText.columns(of: $0.name) + ShownText.columns(of: $0.detail) + 3) * letter }
      .max() ?? 0
    // The title is bold and larger.
    let title = Double(ShownText.columns(of: box.name) + (box.isAbstract ? 11 : 0)) * letter * 1.15
    return Rectangle(
      width: max(longest, title, 90) + 20,
      height: titleHeight + Double(box.rows.count) * rowHeight + (box.rows.isEmpty ? 4 : 8))
  }

  /// The height of a row's middle below the top of its box.
  static func offset(_ row: Int?) -> Double {
    row.map { titleHeight + (Double($0) + 0.5) * rowHeight + 3 } ?? titleHeight / 2
  }

  /// The boxes that hang together, the largest parts first.
  private static func parts(_ graph: DiagramGraph) -> [[Int]] {
    var part = Array(graph.boxes.indices)
    func root(_ box: Int) -> Int {
      var box = box
      while part[box] != box { box = part[box] }
      return box
    }
    for line in graph.lines {
      let (one, other) = (root(line.from.box), root(line.to.box))
      part[max(one, other)] = min(one, other)
    }
    let groups = Dictionary(grouping: graph.boxes.indices, by: root)
    return groups.values.map { $0.sorted() }.sorted { ($1.count, $0[0]) < ($0.count, $1[0]) }
  }
}

/// Puts rectangles beside each other in shelves of about one width.
private struct Shelves {
  let limit: Double
  private var x = 0.0
  private var y = 0.0
  private var tallest = 0.0
  private(set) var width = 0.0
  var height: Double { y + tallest }

  init(limit: Double) { self.limit = limit }

  mutating func place(_ width: Double, _ height: Double) -> DiagramLayout.Point {
    if x > 0, x + width > max(limit, self.width) {
      y += tallest + 2 * DiagramLayout.gap
      x = 0
      tallest = 0
    }
    let origin = DiagramLayout.Point(x: x, y: y)
    x += width + DiagramLayout.gap
    self.width = max(self.width, x - DiagramLayout.gap)
    tallest = max(tallest, height)
    return origin
  }
}
