-- wrk -s lists.lua URL -- FILE COUNT: each request is for another list of COUNT smallkeys of FILE, which has one a line.
function init(args)
	keys, count = {}, tonumber(args[2])
	for key in io.lines(args[1]) do keys[#keys + 1] = key end
	base = wrk.path
end

function request()
	local list = {}
	for at = 1, count do list[at] = keys[math.random(#keys)] end
	return wrk.format(nil, base .. table.concat(list, ","))
end
