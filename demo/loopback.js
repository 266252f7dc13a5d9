// Loaded into local-slack before it starts, which listens on every interface and asks nobody where they come from:
// it listens on the loopback address only, and pages of other sites get nothing, whatever name leads them here.
const serve = Bun.serve;
const OURS = /^https?:\/\/(localhost|127\.0\.0\.1)(:\d+)?$/;

Bun.serve = (options) =>
  serve({
    ...options,
    hostname: "127.0.0.1",
    fetch(request, server) {
      const from = [`http://${request.headers.get("host")}`, request.headers.get("origin") ?? "http://localhost"];
      return from.every((place) => OURS.test(place))
        ? options.fetch.call(this, request, server)
        : new Response("not from this machine's own pages\n", { status: 403 });
    },
  });
