import "uplot/dist/uPlot.min.css";
import "./style.css";
import { readPage } from "./data";
import { pageContent, topBar } from "./pages";
import { startTheme } from "./theme";

startTheme();
const page = readPage();
if (page === null) {
  document.getElementById("page")!.append("This page holds no run.");
} else {
  const { title, sections, content } = pageContent(page);
  document.title = `${title} – Entrain`;
  document.getElementById("page")!.append(topBar(sections), content);
}
