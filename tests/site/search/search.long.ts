import { searchOver } from "./search-over.ts";

searchOver(20_000);
