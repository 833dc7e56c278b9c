export {
  type ClusterNode,
  type RedisCluster,
  type RedisOptions,
  type RedisServer,
  redisTests,
  startCluster,
  startRedis,
  startReplicaPair,
} from '@scoregw/redis-server'
