# The service as an image: built with everything, run with what it needs only.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The build itself comes later, when the sources are there.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:24-slim
WORKDIR /app
ENV NODE_ENV=production SIDEBAND_HOST=0.0.0.0 SIDEBAND_DATA=/data
RUN mkdir /data && chown node:node /data
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/bin ./bin
COPY --from=build /app/dist ./dist
COPY --from=build /app/models ./models
COPY --from=build /app/agents ./agents
COPY --from=build /app/python ./python
USER node
VOLUME /data
EXPOSE 8787
# Node is process 1 and ends in order on SIGTERM.
CMD ["node", "bin/sideband.js", "serve"]
