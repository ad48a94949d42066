import HTTPTypes
import Hummingbird

/// A file of the pages. The files are part of the program.
struct StudioAsset: Sendable {
  let path: String
  let kind: String
  let bytes: [UInt8]

  static let all = [
    StudioAsset(path: "/", kind: "text/html; charset=utf-8", bytes: PackageResources.studio_html),
    StudioAsset(path: "/studio.css", kind: "text/css; charset=utf-8", bytes: PackageResources.studio_css),
    StudioAsset(path: "/icon.svg", kind: "image/svg+xml", bytes: PackageResources.icon_svg),
    StudioAsset(
      path: "/studio.js", kind: "text/javascript; charset=utf-8",
      bytes: Array("'use strict';\n".utf8) + PackageResources.base_js + PackageResources.grid_js
        + PackageResources.rows_js + PackageResources.form_js + PackageResources.object_js
        + PackageResources.diagram_js + PackageResources.lists_js + PackageResources.start_js),
  ]

  var response: Response { Self.response(bytes, kind) }

  static func response(_ bytes: [UInt8], _ kind: String, status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status, headers: [.contentType: kind, .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }
}
