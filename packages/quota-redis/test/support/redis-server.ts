export {
  type ClusterNode,
  type RedisCluster,
  type RedisOptions,
  type RedisServer,
  type ReplicaPair,
  redisTests,
  startCluster,
  startRedis,
  startReplicaPair,
} from '@scoregw/redis-server'
