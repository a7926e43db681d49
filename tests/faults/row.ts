import { noteRow } from "../helpers/suite.ts";
import type { SeenFault, SeenLoss } from "./table.mjs";

/** Notes what became of a fault, for the table of docs/reliability.md. */
export const noteFault = (fault: SeenFault): void => noteRow(fault);

/** Notes a loss and how long the return took, for the same page. */
export const noteLoss = (loss: SeenLoss): void => noteRow(loss);
