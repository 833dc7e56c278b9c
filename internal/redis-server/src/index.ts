export { type ClusterNode, type RedisCluster, type RedisClusterOptions, startCluster } from './cluster.ts'
export { type FrontFault, type HttpFront, startHttpFront } from './http-front.ts'
export { type RedisOptions, type RedisServer, redisTests, startRedis } from './redis-server.ts'
export { type ReplicaPair, startReplicaPair } from './replica-pair.ts'
