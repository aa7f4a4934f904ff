// Light or dark: as set in the system until the reader chooses.

type Theme = "light" | "dark";
const KEY = "entrain-theme";
const listeners = new Set<() => void>();

function remembered(): Theme | null {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null; // a page from disk may have no storage
  }
}

function apply(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
  for (const listener of listeners) listener();
}

export function onThemeChange(listener: () => void): void {
  listeners.add(listener);
}

export function startTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  apply(remembered() ?? (dark.matches ? "dark" : "light"));
  dark.addEventListener("change", () => {
    if (remembered() === null) apply(dark.matches ? "dark" : "light");
  });
}

export function toggleTheme(): void {
  const next: Theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // then only this page remembers
  }
  apply(next);
}

/** Ink on paper, whatever the screen shows; null: as on the screen. */
let onScreen: Theme | null = null;
export function setPaper(paper: boolean): void {
  if (paper === (onScreen !== null)) return;
  const before = onScreen;
  onScreen = paper ? (document.documentElement.dataset.theme as Theme) : null;
  apply(paper ? "light" : before!);
}

/** A colour of the style sheet, as it is now. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export const SERIES_COLOURS = 8;
export function seriesColour(index: number): string {
  return colour(`series-${index % SERIES_COLOURS}`);
}
