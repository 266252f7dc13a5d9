// Loaded into local-slack: its clock can be set, and a request may say which ts its message gets.
const realNow = Date.now;
const padStart = String.prototype.padStart;
const serve = Bun.serve;
let behind = 0;
let next = null;

Date.now = () => (next ? Number(next.split(".")[0]) * 1000 : realNow() - behind);

String.prototype.padStart = function (length, fill) {
  return next && length === 6 && fill === "0" ? next.split(".")[1] : padStart.call(this, length, fill);
};

Bun.serve = (options) =>
  serve({
    ...options,
    async fetch(request, server) {
      const url = new URL(request.url);
      if (url.pathname === "/_seeding/behind") {
        behind = Number(url.searchParams.get("ms"));
        return new Response("set\n");
      }
      next = request.headers.get("x-seeded-ts");
      try {
        const response = await options.fetch.call(this, request, server);
        response?.headers.set("Date", new Date(Date.now()).toUTCString());
        return response;
      } finally {
        next = null;
      }
    },
  });
