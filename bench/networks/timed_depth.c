/* SPDX-License-Identifier: Apache-2.0 */
/* Networks whose images have depth: volumes, shapes of voxels, and clips of moving pictures. */
#include "timed.h"

/* A convolution without bias that keeps the size but for the stride, its norm, and what is above zero. */
static tarn_tensor unit(tarn_tensor x, const char *name, int out, const int window[3],
                        const int stride[3])
{
    tarn_conv3d_make_options make = { .no_bias = true };
    for (int i = 0; i < 3; i++) {
        make.window[i] = window[i];
        make.options.stride[i] = stride[i];
        make.options.padding[i] = window[i] / 2;
    }
    return tarn_use_batch_norm(tarn_use_conv3d(x, name, out, make), TARN_NAME("%s.norm", name));
}

static const int one[3] = { 1, 1, 1 }, two[3] = { 2, 2, 2 }, three[3] = { 3, 3, 3 };

/* ---- volumes --------------------------------------------------------------------------------- */

static tarn_tensor twice(tarn_tensor x, const char *name, int out)
{
    x = tarn_relu(unit(x, TARN_NAME("%s.first", name), out, three, one));
    return tarn_relu(unit(x, TARN_NAME("%s.second", name), out, three, one));
}

static tarn_tensor join(tarn_tensor small, tarn_tensor large, const char *name)
{
    const tarn_conv_transpose3d_make_options make = { .window = { 2, 2, 2 },
                                                      .options.stride = { 2, 2, 2 } };
    small = tarn_use_conv_transpose3d(small, name, tarn_shape_get(large).dim[1], make);
    return tarn_concat((tarn_tensor[]){ small, large }, 2, 1);
}

/* A class for each voxel. */
static tarn_tensor volume(tarn_tensor x)
{
    const tarn_pool3d_options half = { .window = { 2, 2, 2 } };
    const tarn_tensor a = twice(x, "down1", 16);
    const tarn_tensor b = twice(tarn_max_pool3d(a, half), "down2", 32);
    const tarn_tensor c = twice(tarn_max_pool3d(b, half), "bottom", 64);
    const tarn_tensor d = twice(join(c, b, "wider2"), "up2", 32);
    const tarn_tensor e = twice(join(d, a, "wider1"), "up1", 16);
    return tarn_use_conv3d(e, "head", CLASSES, (tarn_conv3d_make_options){ .window = { 1, 1, 1 } });
}

static tarn_tensor voxels(tarn_tensor x)
{
    static const int five[3] = { 5, 5, 5 };
    x = tarn_relu(unit(x, "conv1", 32, five, two));
    x = tarn_relu(unit(x, "conv2", 32, three, one));
    x = tarn_max_pool3d(x, (tarn_pool3d_options){ .window = { 2, 2, 2 } });
    x = tarn_relu(tarn_use_linear(tarn_flatten(x, 1), "fc1", 128));
    return tarn_use_linear(x, "fc2", CLASSES);
}

/* ---- moving pictures ------------------------------------------------------------------------- */

/* As ResNet, of pictures and of time at once. */
static tarn_tensor video(tarn_tensor x)
{
    static const int stem[3] = { 3, 7, 7 }, pictures[3] = { 1, 2, 2 };
    x = tarn_relu(unit(x, "stem", 32, stem, pictures));
    for (int i = 0; i < 3; i++) {
        const int out = 32 << i, *const stride = i == 0 ? one : two;
        tarn_enter(x.replica, "blocks.%d", i);
        tarn_tensor h = tarn_relu(unit(x, "first", out, three, stride));
        h = unit(h, "second", out, three, one);
        if (i > 0)
            x = unit(x, "beside", out, one, stride);
        tarn_leave(x.replica);
        x = tarn_relu(tarn_add(x, h));
    }
    return tarn_use_linear(tarn_mean(x, TARN_AXES(2, 3, 4), false), "fc", CLASSES);
}

/* As R(2+1)D: windows of pictures, and then of time. */
static tarn_tensor moments(tarn_tensor x)
{
    static const int picture[3] = { 1, 3, 3 }, time[3] = { 3, 1, 1 };
    static const int halved[3] = { 1, 2, 2 }, every[3] = { 2, 1, 1 };
    for (int i = 0; i < 4; i++) {
        const int out = 16 << i;
        x = tarn_relu(unit(x, TARN_NAME("picture%d", i), out, picture, i % 2 == 0 ? halved : one));
        x = tarn_relu(unit(x, TARN_NAME("time%d", i), out, time, i % 2 == 0 ? one : every));
    }
    return tarn_use_linear(tarn_mean(x, TARN_AXES(2, 3, 4), false), "fc", CLASSES);
}

const struct timed_network timed_depth[] = {
    { .name = "volume",
      .x = { 5, { 2, 1, 32, 32, 32 } },
      .y = { 4, { 2, 32, 32, 32 } },
      .classes = CLASSES,
      .forward = volume,
      .optimizer = timed_adam },
    { .name = "voxels",
      .x = { 5, { 32, 1, 32, 32, 32 } },
      .y = { 1, { 32 } },
      .classes = CLASSES,
      .forward = voxels,
      .optimizer = timed_adam },
    { .name = "video",
      .x = { 5, { 8, 3, 8, 48, 48 } },
      .y = { 1, { 8 } },
      .classes = CLASSES,
      .forward = video,
      .optimizer = timed_sgd },
    { .name = "moments",
      .x = { 5, { 16, 3, 8, 32, 32 } },
      .y = { 1, { 16 } },
      .classes = CLASSES,
      .forward = moments,
      .optimizer = timed_sgd },
    { 0 },
};
