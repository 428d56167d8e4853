/** What a chart is told to draw. */

export interface Series {
  label: string;
  values: (number | null)[];
  /** The class whose colour it has. */
  look: string;
  filled?: boolean;
}

export interface ChartProps {
  title: string;
  /** The same in a sentence. */
  says: string;
  /** Seconds since 1970. */
  times: number[];
  series: Series[];
  format: (n: number) => string;
  /** The top of the scale; as high as the highest unless said. */
  most?: number;
}
