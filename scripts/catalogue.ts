// Writes the catalogue's files for a running service.
import { extensions } from "../extensions/index.ts";
import { serveOrder } from "../site/data/update.ts";

await serveOrder(extensions);
