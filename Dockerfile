# Tidemark in a container: built in one stage, run in another that has no compiler and no root.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:24-slim
ENV NODE_ENV=production TIDEMARK_HOST=0.0.0.0 TIDEMARK_PORT=8080 TIDEMARK_DATA=/data
WORKDIR /app
# Repositories are unpacked with git; it calls nobody.
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/* \
  && mkdir /data && chown node:node /data
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/migrations migrations
USER node
VOLUME /data
EXPOSE 8080
# Alive, not ready: a container must not be restarted because the database is away.
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.TIDEMARK_PORT + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=4", "dist/main.js"]
CMD ["up"]
