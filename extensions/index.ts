import type { Extension } from "../api/service/extensions.ts";
import { harvest } from "./harvest/index.ts";
import { hosting } from "./hosting/index.ts";
import { importing } from "./import/index.ts";
import { prove } from "./prove/index.ts";
import { records } from "./records/index.ts";
import { repair } from "./repair/index.ts";
import { review } from "./review/index.ts";

/** All extensions, in the order of their start. Without them the core publishes and shows its catalogue. */
export const extensions: readonly Extension[] = [harvest, review, repair, records, hosting, importing, prove];
