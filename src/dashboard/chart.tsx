/** Lines over time under a title; what draws them is loaded when first looked at, and until then they are a sentence. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ChartProps } from "./chart-words.ts";

export function Chart(props: ChartProps) {
  const { title, says, series } = props;
  const [Plot, setPlot] = useState<ComponentType<ChartProps> | null>(null);
  useEffect(() => {
    // Where it cannot be loaded the sentence stays.
    void import("./plot.tsx").then(
      (loaded) => setPlot(() => loaded.Plot),
      () => undefined,
    );
  }, []);
  return (
    <figure class="chart">
      <figcaption>
        {title}
        <span class="legend" aria-hidden="true">
          {series.length > 1 &&
            series.map((one) => (
              <span key={one.label} class={`series ${one.look}`}>
                {one.label}
              </span>
            ))}
        </span>
      </figcaption>
      {Plot ? <Plot {...props} /> : <p class="plot">{says}</p>}
    </figure>
  );
}
