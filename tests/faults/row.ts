import { noteRow } from "../helpers/suite.ts";
import type { SeenFault, SeenLoss } from "./table.mjs";

export const noteFault = (fault: SeenFault): void => noteRow(fault);

export const noteLoss = (loss: SeenLoss): void => noteRow(loss);
