# The image by a Docker engine: docs/recipes/run-it.md. `npm run image` needs none, and makes the same /app, user, volume and ports.
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY console/package.json ./console/
COPY packages ./packages
RUN npm ci
COPY LICENSE README.md CHANGELOG.md ./
COPY docs ./docs
COPY deploy/helm/waypost/files/grafana.json ./deploy/helm/waypost/files/
COPY scripts ./scripts
COPY src ./src
COPY console ./console
RUN npm run app -- --out app

FROM node:24-slim
ENV NODE_ENV=production
# A container is reached from outside, so its callers sign in: docs/operations.md, the administrator's first hour.
ENV WAYPOST_HOST=0.0.0.0
ENV WAYPOST_AUTH=on
ENV WAYPOST_PORT=8848
ENV WAYPOST_DATA_DIR=/var/lib/waypost
COPY --from=build /build/app /app
RUN ln -s ../../../app/dist/main.js /usr/local/bin/waypost
RUN mkdir -m 700 /var/lib/waypost && chown 10001:10001 /var/lib/waypost
WORKDIR /var/lib/waypost
USER 10001:10001
VOLUME /var/lib/waypost
EXPOSE 8848 9848
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["waypost", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["waypost"]
CMD ["start"]
