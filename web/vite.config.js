// One page in one file: scripts, styles and the font are written into the HTML, which then needs no network and no server.
// The studio has a server, whose policy lets scripts and styles with the nonce of the answer run: it puts one in place of NONCE.
import { defineConfig } from "vite";

const NAME = process.env.ENTRAIN_PAGE ?? "index";
const NONCE = NAME === "studio" ? ' nonce="STUDIO_NONCE"' : "";

function inSingleFile() {
  return {
    name: "in-single-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle[`${NAME}.html`];
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") {
          // `</script` inside the code would end the script; a function, because `$&` in the code is no pattern.
          const code = part.code.replace(/<\/script/g, "<\\/script");
          page.source = page.source.replace(/<script type="module"[^>]*><\/script>/, "");
          page.source = page.source.replace("</body>", () => `<script type="module"${NONCE}>${code}</script>\n</body>`);
        } else if (name.endsWith(".css")) {
          page.source = page.source.replace(/<link rel="stylesheet"[^>]*>/, () => `<style${NONCE}>${part.source}</style>`);
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
    rollupOptions: { input: `${NAME}.html` },
    target: "es2021",
    assetsInlineLimit: 1_000_000,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    emptyOutDir: false, // the folder of the build is named on the command line
  },
});
