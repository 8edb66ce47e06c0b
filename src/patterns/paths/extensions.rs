//! Recognises file names by their extension or as a whole.

/// File extensions, separated by spaces.
const EXTENSIONS: &str = "adoc arb astro avsc bak bash bat bib bicep bmp c cc cfg cjs clj cljs cmake cmd conf cpp \
    cs csproj css csv cts cxx dart db diff eex ejs elm entitlements erb erl ex exs fish fs \
    fsx gemspec gif go gql gradle graphql groovy gz h hbs hcl heex hh hpp hrl hs htm html \
    ico ini ipynb j2 jar java jinja jl jpeg jpg js json json5 jsonc jsonl jsx kt kts less \
    lhs liquid lock log lua m map md mdx mjs mk ml mli mm mp3 mp4 mts mustache nim nix njk \
    otf patch pbxproj pdf phtml php pl plist pm png po pot prisma properties proto ps1 pug \
    py pyi r rake rb robot rs rst sass scala scss service sh sln snap sol sql sqlite sqlite3 \
    storyboard sum sv svelte svg swift tar tex tf tfvars tgz thrift tmpl toml tpl ts tsv tsx \
    ttf txt vb vhd vue wasm wat wav webm webp whl woff woff2 xcconfig xib xml xsd xsl yaml \
    yml zig zip zsh";

/// Extensions that may also end an expression or a name: `console.log`, `items.map`, `user.db`.
const ALSO_WORDS: &str = "bak c db diff ex fs h lock log m map patch po r service sum";

/// Common names of variables; `response.json` is an expression.
const VALUES: &str = "body data df e event req request res resp response result self this window";

/// Frameworks whose names look like files: `Node.js`.
const PRODUCTS: &str = "alpine angular backbone chart d3 discord ember express hapi knockout koa meteor moment \
    nest next node nuxt p5 phaser pixi react sails solid three vue";

/// Files without an extension, and `go.mod`.
const NAMES: &str = "BUILD Brewfile CHANGELOG CODEOWNERS Containerfile Dockerfile Gemfile Jenkinsfile \
    Justfile LICENSE Makefile NOTICE Procfile README Rakefile Taskfile Vagrantfile WORKSPACE \
    go.mod justfile";

/// Returns whether a name has a known file extension.
pub(crate) fn has_extension(name: &str) -> bool {
    extension(name).is_some_and(is_extension)
}

/// Returns whether a word is a known file extension.
pub(crate) fn is_extension(word: &str) -> bool {
    has(EXTENSIONS, word) || word == "R"
}

/// Returns whether a name without a folder is certainly a file name.
pub(crate) fn is_file_name(name: &str) -> bool {
    if has(NAMES, name) {
        return true;
    }
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    if stem.is_empty() {
        return false;
    }
    let lower = stem.to_lowercase();
    let is_expression = has(ALSO_WORDS, extension) || has(VALUES, &lower);
    // `Whatever.js` is a product: modules begin in lower case, and components end in `.jsx`.
    let is_named = stem.starts_with(char::is_uppercase) && !stem.contains('.');
    let is_product = extension == "js" && (is_named || has(PRODUCTS, &lower));
    is_extension(extension) && !is_expression && !is_product
}

fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

fn extension(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty()).then_some(extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_told_from_expressions_and_products() {
        for name in ["a.rs", "x.test.tsx", "Cargo.toml", "Makefile", "go.mod", "next.config.js"] {
            assert!(is_file_name(name), "{name}");
        }
        for name in ["Node.js", "node.js", "items.map", "res.json", "v1.2", ".rs", "etc.", ""] {
            assert!(!is_file_name(name), "{name}");
        }
        assert!(has_extension("src/a.rs") && !has_extension(".rs") && !has_extension("v1.2"));
    }
}
