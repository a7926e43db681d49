// The process that writes the catalogue's files for a running service.
import { extensions } from "../extensions/index.ts";
import { serveOrders } from "../site/process/catalogue-worker.ts";

serveOrders(extensions);
