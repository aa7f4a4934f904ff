import "uplot/dist/uPlot.min.css";
import "./style.css";
import { readPage } from "./data";
import { listenToKeys } from "./keys";
import { pageContent, topBar } from "./pages";
import { endPrint, startPrint } from "./print";
import { startTheme } from "./theme";

startTheme();
const page = readPage();
if (page === null) {
  document.getElementById("page")!.append("This page holds no run.");
} else {
  const { title, sections, view, content } = pageContent(page);
  document.title = `${title} – Entrain`;
  document.getElementById("page")!.append(topBar(sections), content);
  listenToKeys(view);
  addEventListener("beforeprint", startPrint);
  addEventListener("afterprint", endPrint);
}
