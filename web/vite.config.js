// One page in one file: scripts, styles and the font are written into the HTML, which then needs no network and no server.
import { defineConfig } from "vite";

function inSingleFile() {
  return {
    name: "in-single-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") {
          // `</script` inside the code would end the script; a function, because `$&` in the code is no pattern.
          const code = part.code.replace(/<\/script/g, "<\\/script");
          page.source = page.source.replace(/<script type="module"[^>]*><\/script>/, "");
          page.source = page.source.replace("</body>", () => `<script type="module">${code}</script>\n</body>`);
        } else if (name.endsWith(".css")) {
          page.source = page.source.replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${part.source}</style>`);
        } else {
          continue;
        }
        delete bundle[name];
      }
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [inSingleFile()],
  build: {
    target: "es2021",
    assetsInlineLimit: 1_000_000,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    emptyOutDir: false, // the folder of the build is named on the command line
  },
});
