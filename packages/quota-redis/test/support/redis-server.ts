export { type RedisOptions, type RedisServer, redisTests, startRedis } from '@scoregw/redis-server'
