# Turns flattened manifests into facts that can be compared: what the root declares and what the
# layers declare, in the same words.
#
# Input lines: <layer or "."> TAB <path in the dumped manifest> TAB <value>
# Output lines: <root|layers> TAB <subject> TAB <fact>, and edges, paths and packages for the checks of imports.
# Variable `order`: the layers, lowest first.

BEGIN { FS = "\t" }

{
  manifest = $1
  value[manifest, $2] = $3
  paths[manifest] = paths[manifest] "\n" $2
  if (!(manifest in seen)) { seen[manifest] = 1; manifests[++count] = manifest }
}

# "root" facts come from the root's manifest, "layers" facts from all the others.
function fact(manifest, subject, text) {
  printf "%s\t%s\t%s\n", (manifest == "." ? "root" : "layers"), subject, text
}

function target_names(manifest,   i) {
  for (i = 0; (manifest, "targets/" i "/name") in value; i++) {
    name = value[manifest, "targets/" i "/name"]
    kind[manifest, name] = value[manifest, "targets/" i "/type"]
  }
}

# The folder of a target, from the repository's root.
function folder(manifest, i,   name, type, given) {
  name = value[manifest, "targets/" i "/name"]
  given = value[manifest, "targets/" i "/path"]
  if (manifest == ".") return given
  type = value[manifest, "targets/" i "/type"]
  if (given == "") given = (type == "test" ? "Tests/" : "Sources/") name
  return "Packages/" manifest "/" given
}

# The target behind a product: layers name products of each other, the root names targets.
function behind(product, package,   i, key) {
  for (i = 0; (package, "products/" i "/name") in value; i++)
    if (value[package, "products/" i "/name"] == product)
      return value[package, "products/" i "/targets/0"]
  return product " (a product that " package " does not have)"
}

function targets(manifest,   i, j, name, base, where, list, n, k, rest, edge) {
  for (i = 0; (manifest, "targets/" i "/name") in value; i++) {
    name = value[manifest, "targets/" i "/name"]
    base = "targets/" i "/"
    where = folder(manifest, i)
    printf "target\t%s\t%s\t%s\t%s\n", manifest, name, kind[manifest, name], where
    # Whole-system tests and tools have no layer to agree with.
    if (manifest == "." && where !~ /^Packages\//) compared = 0; else compared = 1
    if (compared) fact(manifest, "target " name, "path " where)
    n = split(paths[manifest], list, "\n")
    for (k = 1; k <= n; k++) {
      if (index(list[k], base) != 1) continue
      rest = substr(list[k], length(base) + 1)
      if (rest == "name" || rest == "path") continue
      if (rest ~ /^dependencies\//) {
        if (rest !~ /^dependencies\/[0-9]+\/(byName|target|product)\/0$/) {
          # 1 is the package of a product; anything later is a condition, which must agree too.
          if (rest !~ /\/product\/1$/ && compared)
            fact(manifest, "target " name, "condition " rest " " value[manifest, list[k]])
          continue
        }
        edge = value[manifest, list[k]]
        if (rest ~ /\/product\/0$/) {
          sub(/0$/, "1", rest)
          edge = behind(edge, value[manifest, base rest])
        }
        printf "edge\t%s\t%s\t%s\n", manifest, name, edge
        if (compared) fact(manifest, "target " name, "dependency " edge)
      } else if (compared) fact(manifest, "target " name, rest " " value[manifest, list[k]])
    }
  }
}

# The folder of a product's first target, from the repository's root.
function product_folder(manifest, base,   i) {
  for (i = 0; (manifest, "targets/" i "/name") in value; i++)
    if (value[manifest, "targets/" i "/name"] == value[manifest, base "targets/0"]) return folder(manifest, i)
}

function products(manifest,   i, j, name, base, hidden, list, n, k, rest) {
  for (i = 0; (manifest, "products/" i "/name") in value; i++) {
    base = "products/" i "/"
    name = value[manifest, base "name"]
    # A plug-in, and what tests of several layers share, are products only between layers; the root reaches their targets
    # directly, and users do not see them.
    if (kind[manifest, value[manifest, base "targets/0"]] == "macro") continue
    if (manifest != "." && product_folder(manifest, base) ~ /^Packages\/[^\/]+\/Tests\//) continue
    fact(manifest, "product " name, "exists")
    n = split(paths[manifest], list, "\n")
    for (k = 1; k <= n; k++)
      if (index(list[k], base) == 1) {
        rest = substr(list[k], length(base) + 1)
        if (rest != "name") fact(manifest, "product " name, rest " " value[manifest, list[k]])
      }
  }
}

# Platforms, language modes and the tools version are the same everywhere.
function package_wide(manifest,   list, n, k) {
  n = split(paths[manifest], list, "\n")
  for (k = 1; k <= n; k++)
    if (list[k] ~ /^(platforms|swiftLanguageVersions|toolsVersion|cLanguageStandard|cxxLanguageStandard)/)
      printf "wide\t%s\t%s %s\n", manifest, list[k], value[manifest, list[k]]
}

function packages(manifest,   list, n, k, part) {
  n = split(paths[manifest], list, "\n")
  for (k = 1; k <= n; k++) {
    if (list[k] !~ /^dependencies\//) continue
    split(list[k], part, "/")
    if (part[3] != "fileSystem") printf "package\t%s\t%s\t%s\n", manifest, part[3], value[manifest, list[k]]
    else if (part[5] == "path") printf "package\t%s\tlocal\t%s\n", manifest, value[manifest, list[k]]
    else if (part[5] == "nameForTargetDependencyResolutionOnly")
      printf "package\t%s\tnamed\t%s\n", manifest, value[manifest, list[k]]
  }
}

END {
  for (m = 1; m <= count; m++) target_names(manifests[m])
  for (m = 1; m <= count; m++) {
    targets(manifests[m])
    products(manifests[m])
    package_wide(manifests[m])
    packages(manifests[m])
  }
}
