# The server in a container: docs/recipes/run-it.md.
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY console/package.json ./console/
RUN npm ci
COPY scripts ./scripts
COPY src ./src
COPY console ./console
RUN npm run build

FROM node:24-slim
ENV NODE_ENV=production
# A container is reached from outside, so its callers sign in: docs/operations.md, the administrator's first hour.
ENV WAYPOST_HOST=0.0.0.0
ENV WAYPOST_AUTH=on
ENV WAYPOST_PORT=8848
ENV WAYPOST_DATA_DIR=/data
WORKDIR /app
COPY package.json package-lock.json .npmrc LICENSE ./
RUN npm ci --omit=dev && npm cache clean --force
COPY --from=build /build/dist ./dist
RUN mkdir -m 700 /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8848 9848
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["node", "-e", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; process.removeAllListeners('warning'); fetch(`${process.env.WAYPOST_TLS_CERT ? 'https' : 'http'}://127.0.0.1:${process.env.WAYPOST_PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
CMD ["node", "dist/main.js", "start"]
