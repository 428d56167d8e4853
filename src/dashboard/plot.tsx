/** Draws lines over time with uPlot, in the colours of the page. */
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { ChartProps, Series } from "./chart-words.ts";

const HEIGHT = 180;

export function Plot({ says, times, series, format, most }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const data = [times, ...series.map((one) => one.values)] as uPlot.AlignedData;
  const names = series.map((one) => `${one.label} ${one.look}`).join();
  // Drawn anew for other lines; new values of the same lines come below.
  useEffect(() => {
    const holder = place.current!;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsFor(holder, series, format, most), data, holder);
    };
    draw();
    const sizes = new ResizeObserver(() => plot.current?.setSize({ width: holder.clientWidth, height: HEIGHT }));
    sizes.observe(holder);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    return () => {
      sizes.disconnect();
      dark.removeEventListener("change", draw);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [names]);
  useEffect(() => plot.current?.setData(data));
  return <div ref={place} class="plot" role="img" aria-label={says} />;
}

/** A colour of the style sheet, as the browser resolves it for light or dark. */
function colourOf(holder: HTMLElement, look: string): string {
  const probe = document.createElement("span");
  probe.className = `series ${look}`;
  holder.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function optionsFor(holder: HTMLElement, series: Series[], format: ChartProps["format"], most?: number): uPlot.Options {
  const faint = colourOf(holder, "axis");
  const grid = { stroke: colourOf(holder, "grid"), width: 1 };
  const font = `11px ${getComputedStyle(holder).fontFamily}`;
  const axis: uPlot.Axis = { stroke: faint, grid, ticks: { show: false }, font };
  const top = (_: uPlot, _min: number, max: number): uPlot.Range.MinMax => [0, most ?? Math.max(1, (max ?? 0) * 1.1)];
  return {
    width: holder.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: top } },
    axes: [
      { ...axis, size: 28, space: 70, values: (_, splits) => momentsOf(splits) },
      { ...axis, size: 52, space: 40, values: (_, splits) => splits.map((n) => format(n)) },
    ],
    series: [
      {},
      ...series.map((one): uPlot.Series => {
        const stroke = colourOf(holder, one.look);
        const fill = one.filled ? { fill: colourOf(holder, `${one.look}-fill`) } : {};
        return {
          label: one.label,
          stroke,
          width: 1.5,
          points: { show: one.values.filter((n) => n !== null).length < 3 },
          ...fill,
        };
      }),
    ],
  };
}

const DAY_S = 86_400;
const hour_minute = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "UTC" });
const day_month = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** Hours on one day, dates on several; UTC, as every other time here. */
function momentsOf(splits: number[]): string[] {
  const several = (splits.at(-1) ?? 0) - (splits[0] ?? 0) > DAY_S;
  return splits.map((s) => (several ? day_month : hour_minute).format(new Date(s * 1000)));
}
