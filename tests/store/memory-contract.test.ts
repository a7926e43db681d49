import { memoryStore } from "../../store/memory.ts";
import { testStore } from "./contract.ts";

testStore("store in memory", async () => ({ store: memoryStore(), close: async () => {} }));
