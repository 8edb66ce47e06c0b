import { createServer } from "node:http";
import { trails } from "./trails.ts";

createServer((_request, response) => {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(trails));
}).listen(8080);
