import type { Box } from "./box.ts";

/** What the picture of the land's outline shows, in metres of EPSG:3978. */
export const landExtent: Box = [-6_000_000, -3_600_000, 6_000_000, 6_000_000];
